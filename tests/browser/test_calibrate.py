"""Calibrate: from a score file or X-rays to one charge, and what is refused."""

import re

import pytest

from ppsets_core import Calibration
from tests.browser import driving as ui
from tests.browser.samples import csv_file, score_file, xray_zip

BUDGET = "Privacy budget of the data set"


def test_a_double_click_charges_once_and_a_reload_loses_nothing(app, page):
    file = score_file("ward-7.csv", 900, 1, patients=600)
    ui.open_score_file(page, app, file)
    counts = [ui.metric(page, name) for name in ("Records read", "Patients", "Records used")]
    assert counts == ["900", "600", "600"]
    ui.press(page, "Calibrate …")
    ui.button(page, ui.SPEND).wait_for()
    ui.move_slider(page, ui.EPSILON, 4)
    ui.lacks(page.get_by_role("button", name=ui.SPEND))
    assert ui.ledger_of(app).releases("ward-7") == [], "changed inputs close the confirm step"
    ui.press(page, "Calibrate …")
    ui.sees(page, "Spend ε = 1.6 of the budget of ward-7?")
    ui.press_twice(page, ui.SPEND)
    ui.sees(page, "Your calibration")
    ui.settle(page)
    threshold = ui.metric(page, "Threshold")
    calibration = Calibration.from_json(ui.downloaded(page, "Download calibration (JSON)").decode())
    (release,) = ui.ledger_of(app).releases("ward-7")
    assert release.calibration == calibration
    assert (calibration.n, calibration.epsilon, calibration.method) == (600, 1.6, "sharp")
    page.reload()
    ui.settle(page)
    ui.choose(page, "A score file")
    ui.upload(page, file)
    ui.sees(page, "'ward-7' is in the ledger already")
    ui.press(page, re.compile("^Use the last release again|^Reuse"))
    assert ui.metric(page, "Threshold") == threshold == f"{calibration.threshold:.6g}"
    assert len(ui.ledger_of(app).releases("ward-7")) == 1


def test_a_reload_in_the_middle_of_a_release_charges_once(app, page):
    ui.open_score_file(page, app, score_file("reload.csv", 700, 6))
    ui.press(page, "Calibrate …")
    ui.button(page, ui.SPEND).press("Enter")
    page.reload()
    ui.settle(page)
    page.wait_for_timeout(1000)
    assert len(ui.ledger_of(app).releases("reload")) <= 1


def test_over_budget_is_refused_until_the_budget_is_raised(app, page):
    ui.open_score_file(page, app, score_file("small-budget.csv", 700, 4))
    ui.fill(page, BUDGET, "1.5")
    ui.calibrate(page)
    ui.press(page, "Calibrate …")
    ui.press(page, ui.SPEND)
    ui.sees(page, "Not everyone in these records has room for ε = 1 within the budget of 1.5 for 'small-budget'")
    ui.press(page, "Go to Ledger")
    page.get_by_role("heading", name="Ledger", exact=True).wait_for()
    page.get_by_text("Raise a budget").click()
    pick = page.get_by_role("combobox", name="Data set to raise")
    pick.fill("small-budget")
    pick.press("Enter")
    ui.settle(page)
    ui.press(page, "Raise …")
    ui.sees(page, "Raise the budget of small-budget from 1.5 to 2.5?")
    ui.press(page, "Raise to 2.5")
    ui.sees(page, "The budget of 'small-budget' is 2.5 now.")
    ui.go_to(page, "Calibrate")
    ui.calibrate(page)
    assert len(ui.ledger_of(app).releases("small-budget")) == 2


def test_xrays_with_labels_to_a_cutoff_for_each_diagnosis(app, page):
    ui.visit(page, app, "calibrate")
    ui.choose(page, "X-rays with labels")
    ui.upload(page, xray_zip("clinic.zip", 20, 8))
    ui.sees(page, "61 X-rays found.")
    ui.press(page, "Classify 61 X-rays")
    page.get_by_text("Records used").wait_for(timeout=ui.LONG)
    assert (ui.metric(page, "Records read"), ui.metric(page, "Diagnoses")) == ("60", "3")
    ui.sees(page, "2 files were left out, and why")
    ui.choose(page, "each diagnosis")
    ui.move_slider(page, ui.EPSILON, 30)
    ui.fill(page, BUDGET, "50")
    ui.calibrate(page)
    (release,) = ui.ledger_of(app).releases("clinic")
    shown = [ui.metric(page.locator(".st-key-result"), name) for name in release.calibration.classes]
    assert shown == [f"≥ {1 - threshold:.4g}" for threshold in release.calibration.thresholds]


def test_bad_files_get_a_sentence_in_which_names_are_text(app, page):
    page.on("dialog", lambda dialog: pytest.fail("A file name ran as a script."))
    for file, told in (
        (csv_file("*b* :smile: <img src=x onerror=alert(1)> [a](b).csv", "score\nx\ny\n"), "*b* :smile: <img src=x"),
        (csv_file("range.csv", "score\n0.5\n1.5\n"), "outside [0, 1]"),
    ):
        ui.open_score_file(page, app, file)
        alert = page.get_by_test_id("stAlert")
        alert.wait_for()
        assert told in alert.inner_text().replace("\u2060", "")
        ui.lacks(alert.locator("a, img, em, strong"))
