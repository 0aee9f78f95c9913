"""Home, Model and Ledger: the demo, other weights, private fine-tuning, exports and using a release again."""

import csv
import io
import json
import re

from tests.browser import driving as ui
from tests.browser.samples import xray_archive


def test_the_demo_is_charged_once_for_all_and_each_session_has_its_own_calibration(app, new_page):
    page, other = new_page(), new_page()
    ui.demo(page, app)
    ui.sees(page, "charged once to 'coronahack-demo'")
    spent = ui.ledger_of(app).account("coronahack-demo").spent
    ui.visit(other, app)
    ui.sees(other.get_by_test_id("stSidebar"), "No calibration yet.")
    ui.press(other, "Try the demo")
    ui.sees(other, "Active calibration:")
    assert ui.ledger_of(app).account("coronahack-demo").spent == spent
    ui.press(page, re.compile("Go to Diagnose"))
    page.get_by_role("heading", name="Diagnose", exact=True).wait_for()
    ui.sees(page.get_by_test_id("stSidebar"), "Calibrated with coronahack-demo")
    for screen, there in (("diagnose", "What do you have?"), ("", "Active calibration:")):
        ui.visit(page, app, screen)  # a new session, to which the paid release is offered again
        ui.press(page, ui.REUSE)
        ui.sees(page, there)
    assert ui.ledger_of(app).account("coronahack-demo").spent == spent


def test_the_ledger_is_drawn_exported_and_its_releases_used_again(app, new_page):
    page = new_page(1280)
    ui.demo(page, app)
    ui.visit(page, app, "ledger")
    ui.sees(page.get_by_test_id("stSidebar"), "No calibration yet.")
    page.locator(".js-plotly-plot .scatterlayer .trace").first.wait_for()
    assert ui.shows_every_column(page.get_by_test_id("stDataFrame").nth(1))
    rows = list(csv.DictReader(io.StringIO(ui.downloaded(page, "Export releases (CSV)").decode())))
    assert any(row["dataset"] == "coronahack-demo" and row["status"] == "released" for row in rows)
    document = json.loads(ui.downloaded(page, "Export everything (JSON)"))
    assert {"coronahack-demo"} <= {account["name"] for account in document["datasets"]}
    assert len(document["releases"]) == len(rows)
    ui.press(page, "Use this calibration")
    ui.sees(page.get_by_test_id("stSidebar"), "Calibrated with")
    ui.sees(page, "In use in this browser session.")


def test_weights_are_saved_loaded_and_put_the_calibration_aside(app, page, tmp_path):
    ui.demo(page, app)
    ui.go_to(page, "Model")
    assert 75 < float(ui.metric(page, "Accuracy").rstrip("%")) < 100
    page.locator(".js-plotly-plot").nth(1).locator(".main-svg").first.wait_for()
    ui.tab(page, "Weights")
    (tmp_path / "mine.safetensors").write_bytes(ui.downloaded(page, "Download these weights"))
    ui.upload(page, tmp_path / "mine.safetensors")
    ui.press(page, "Use these weights")
    ui.sees(page, re.compile("now classifies with mine.safetensors"))
    ui.sees(page, re.compile("no longer active"))
    ui.sees(page.get_by_test_id("stSidebar"), "No calibration yet.")


def test_private_fine_tuning_is_paid_for_before_it_begins_and_refused_over_budget(app, page):
    ledger = ui.ledger_of(app)
    before = len(ledger.releases())
    ui.visit(page, app, "model")
    ui.tab(page, "Fine-tune")
    ui.upload(page, xray_archive("tuned-here.zip", 90, 0, labelled=True))
    page.get_by_text("With differential privacy (DP-SGD)").click()
    ui.settle(page)
    ui.press(page, "Fine-tune …")
    ui.sees(page, re.compile("Spend ε = 3 and δ = 1e-05 of the budget of tuned-here"))
    ui.fill(page, "Why (optional)", "X-rays of our own scanner")
    assert len(ledger.releases()) == before
    ui.press_twice(page, ui.SPEND)
    page.get_by_text("What came out").wait_for(timeout=3 * ui.LONG)
    ui.settle(page)
    assert 2.97 <= float(ui.metric(page, "Privacy spent").removeprefix("ε = ")) <= 3.03
    ui.sees(page, re.compile("Charged to 'tuned-here' before it began"))
    assert page.locator(".js-plotly-plot").count() == 1
    charged = ledger.releases()[-1]
    assert len(ledger.releases()) == before + 1, "a double click is one charge"
    assert (charged.kind, str(charged.epsilon), charged.reason) == ("training", "3.0", "X-rays of our own scanner")
    ui.fill(page, "Name of the data set", "under-another-name")
    ui.press(page, "Fine-tune …")
    ui.button(page, ui.SPEND).press("Enter")
    ui.sees(page, "Not everyone in these records has room for ε = 3", timeout=ui.LONG)
    assert len(ledger.releases()) == before + 1
