"""Calibrate: from a score file to one charge, whatever is clicked or reloaded."""

from ppsets_core import Calibration
from tests.browser import driving as ui
from tests.browser.samples import score_file
from tests.reports.reading import Read


def test_a_double_click_charges_once_and_a_reload_loses_nothing(app, page):
    """And whatever files are uploaded one over the other, α and ε stay as they were chosen."""
    file = score_file("ward-7.csv", 900, 1, patients=600)
    ui.open_score_file(page, app, file)
    ui.move_slider(page, ui.EPSILON, -2)
    ui.choose(page, "each diagnosis")
    for number in range(10):
        ui.upload(page, score_file(f"other-{number}.csv", 400, number))
        sliders = [page.get_by_role("slider", name=name) for name in (ui.ALPHA, ui.EPSILON)]
        assert [each.get_attribute("aria-valuetext") for each in sliders] == ["10%", "0.8"], number
    ui.choose(page, "all patients together")
    ui.upload(page, file)
    ui.move_slider(page, ui.EPSILON, 2)
    ui.sees(page, "900 records of 600 patients · 600 used: ε protects the patient")
    ui.press(page, "Calibrate …")
    ui.button(page, ui.SPEND).wait_for()
    ui.move_slider(page, ui.EPSILON, 4)
    page.get_by_role("button", name=ui.SPEND).first.wait_for(state="detached")
    assert ui.ledger_of(app).releases("ward-7") == [], "changed inputs close the confirm step"
    ui.press(page, "Calibrate …")
    ui.sees(page, "Spend ε = 1.6 of the budget of ward-7?")
    ui.press_twice(page, ui.SPEND)
    ui.sees(page, "Your calibration")
    ui.settle(page)
    calibration = Calibration.from_json(ui.downloaded(page, "Download calibration (JSON)").decode())
    report = Read(ui.downloaded(page, "Report to print (HTML)").decode())
    assert ui.metric(page, "Threshold") == f"{calibration.threshold:.6g}"
    assert f"{calibration.threshold:.6g}" in report.words
    (release,) = ui.ledger_of(app).releases("ward-7")
    assert release.calibration == calibration
    assert (calibration.n, calibration.epsilon, calibration.method) == (600, 1.6, "sharp")
    page.reload()
    ui.settle(page)
    ui.choose(page, "A score file")
    ui.upload(page, file)
    ui.sees(page, "'ward-7' is in the ledger already")
    ui.go_to(page, "Ledger")
    ui.press(page, "Use this calibration")
    ui.sees(page.get_by_test_id("stSidebar"), "Calibrated with ward-7")
    assert len(ui.ledger_of(app).releases("ward-7")) == 1
