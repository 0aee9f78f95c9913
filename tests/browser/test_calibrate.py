"""Calibrate: each way in, the plan, the one charge, and what is refused."""

import re

import numpy as np
import pytest

from ppsets_core import Calibration, Ledger, calibrate, plan, simulate
from tests.browser.driving import choose, go_to, lacks, metric, move_slider, press, sees, settle, upload, visit
from tests.browser.samples import csv_file, score_file, xray_zip


def releases(app, dataset: str) -> list:
    return Ledger(app.home / "ledger.sqlite").releases(dataset)


def open_score_file(page, app, file: dict) -> None:
    visit(page, app, "calibrate")
    choose(page, "A score file")
    upload(page, file)


def test_score_file_to_json(app, page, tmp_path):
    open_score_file(page, app, score_file("ward-7.csv", 900, 1, patients=600))
    assert (metric(page, "Records read"), metric(page, "Patients"), metric(page, "Records used")) == (
        *("900", "600", "600"),
    )
    before = metric(page, "Extra margin for privacy")
    move_slider(page, "Privacy loss (ε)", 4)
    assert metric(page, "Extra margin for privacy") != before
    press(page, "Calibrate …")
    sees(page, "Spend ε = 1.6 of the budget of ward-7?")
    press(page, re.compile("^Spend ε"))
    sees(page, "Your calibration")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download calibration").click()
    calibration = Calibration.from_json(download.value.path().read_text())
    (release,) = releases(app, "ward-7")
    assert release.calibration == calibration
    assert (calibration.n, calibration.epsilon, calibration.method) == (600, 1.6, "sharp")
    sees(page, "Coverage is an average")


def test_each_diagnosis_gets_a_cutoff_of_its_own(app, page):
    open_score_file(page, app, score_file("each.csv", 900, 9))
    choose(page, "each diagnosis")
    assert metric(page, "ε for each diagnosis") == "0.5"
    lacks(page.locator(".st-key-plan_paper"))
    press(page, "Calibrate …")
    press(page, re.compile("^Spend ε"))
    sees(page, "Your calibration")
    (release,) = releases(app, "each")
    shown = [metric(page.locator(".st-key-result"), name) for name in release.calibration.classes]
    assert shown == [f"≥ {1 - threshold:.4g}" for threshold in release.calibration.thresholds]
    sees(page.get_by_test_id("stSidebar"), "for each diagnosis")


def test_every_record_counts_when_asked_for(app, page):
    open_score_file(page, app, score_file("ward-8.csv", 900, 2, patients=600))
    page.get_by_test_id("stCheckbox").get_by_text("One X-ray of each patient").click()
    settle(page)
    assert metric(page, "Records used") == "900"
    sees(page, "not one patient")


def test_trivial_plan_says_so_and_offers_the_remedy(app, page):
    open_score_file(page, app, score_file("tiny.csv", 60, 3))
    move_slider(page, "Privacy loss (ε)", -26)
    sees(page, "Too few records for this α and ε")
    sees(page, "There is nothing to spend on yet")
    lacks(page.get_by_role("button", name="Calibrate …"))
    page.locator(".st-key-plan_sharp").get_by_role("button", name=re.compile("^Use ε")).click()
    settle(page)
    page.get_by_role("button", name="Calibrate …").wait_for()
    lacks(page.locator(".st-key-plan_sharp").get_by_text("Too few records"))


def test_over_budget_is_refused_until_the_budget_is_raised(app, page):
    open_score_file(page, app, score_file("small-budget.csv", 700, 4))
    budget = page.get_by_role("spinbutton", name="Privacy budget of the data set")
    budget.fill("1.5")
    budget.press("Enter")
    settle(page)
    press(page, "Calibrate …")
    press(page, re.compile("^Spend ε"))
    sees(page, "Your calibration")
    sees(page, "in all of them has 0.5 left")
    press(page, "Calibrate …")
    press(page, re.compile("^Spend ε"))
    sees(page, "Not everyone in these records has room for ε = 1 within the budget of 1.5 for 'small-budget'")
    press(page, "Go to Ledger")
    page.get_by_role("heading", name="Ledger", exact=True).wait_for()
    page.get_by_text("Raise a budget").click()
    pick = page.get_by_role("combobox", name="Data set to raise")
    pick.fill("small-budget")
    pick.press("Enter")
    settle(page)
    press(page, "Raise …")
    sees(page, "Raise the budget of small-budget from 1.5 to 2.5?")
    press(page, "Raise to 2.5")
    sees(page, "The budget of 'small-budget' is 2.5 now.")
    go_to(page, "Calibrate")
    sees(page, "2.5 in all, of which releases under this name have cost 1")
    assert len(releases(app, "small-budget")) == 1


def test_double_click_charges_once_and_a_reload_loses_nothing(app, page):
    file = score_file("double.csv", 700, 5)
    open_score_file(page, app, file)
    press(page, "Calibrate …")
    page.get_by_role("button", name=re.compile("^Spend ε")).dblclick()
    sees(page, "Your calibration")
    settle(page)
    threshold = metric(page, "Threshold")
    page.reload()
    settle(page)
    (release,) = releases(app, "double")
    choose(page, "A score file")
    upload(page, file)
    sees(page, "'double' is in the ledger already")
    press(page, "Use the last release again")
    assert metric(page, "Threshold") == threshold == f"{release.calibration.threshold:.6g}"
    assert len(releases(app, "double")) == 1


def test_reload_in_the_middle_of_a_release_charges_once(app, page):
    open_score_file(page, app, score_file("reload.csv", 700, 6))
    press(page, "Calibrate …")
    page.get_by_role("button", name=re.compile("^Spend ε")).click(no_wait_after=True)
    page.reload()
    settle(page)
    page.wait_for_timeout(1000)
    assert len(releases(app, "reload")) <= 1


def test_changed_inputs_close_the_confirm_step(app, page):
    open_score_file(page, app, score_file("changed.csv", 700, 7))
    press(page, "Calibrate …")
    page.get_by_role("button", name=re.compile("^Spend ε")).wait_for()
    move_slider(page, "Privacy loss (ε)", 1)
    lacks(page.get_by_role("button", name=re.compile("^Spend ε")))
    assert releases(app, "changed") == []


@pytest.mark.parametrize(
    ("file", "told"),
    [
        (csv_file("empty.csv", ""), "it is empty"),
        (csv_file("range.csv", "score\n0.5\n1.5\n"), "outside [0, 1]"),
        (csv_file("*b* :smile: <img src=x onerror=alert(1)> [a](b).csv", "score\nx\ny\n"), "*b* :smile: <img src=x"),
        ({"name": "n.npy", "mimeType": "x/y", "buffer": b"\x93NUMPY\x01\x00\x04\x00{}"}, "n.npy"),
    ],
)
def test_bad_files_get_a_sentence(app, page, file, told):
    page.on("dialog", lambda dialog: pytest.fail("A file name ran as a script."))
    open_score_file(page, app, file)
    alert = page.get_by_test_id("stAlert")
    alert.wait_for()
    assert told in alert.inner_text().replace("\u2060", "")
    lacks(alert.locator("a, img, em, strong"))


def test_saved_calibration_is_loaded_and_a_simulation_marked(app, page, tmp_path):
    scores = np.linspace(0.01, 0.99, 500)
    drawn = simulate(scores, plan(len(scores), 0.1, 1.0), np.random.default_rng(0))
    visit(page, app, "calibrate")
    choose(page, "A saved calibration")
    upload(page, {"name": "trial.json", "mimeType": "application/json", "buffer": drawn.to_json().encode()})
    press(page, "Use this simulation, marked as one")
    sees(page, "no private release")
    sidebar = page.get_by_test_id("stSidebar")
    sees(sidebar, "Simulation, not a release")
    release = calibrate(scores, 0.1, 1.0).to_json()
    page.get_by_role("button", name="Remove trial.json").click()
    settle(page)
    upload(page, {"name": "kept.json", "mimeType": "application/json", "buffer": release.encode()})
    press(page, "Use this calibration")
    sees(sidebar, "Calibrated with kept.json")
    lacks(sidebar.get_by_text("Simulation"))


def test_xray_zip_to_calibration(app, page):
    visit(page, app, "calibrate")
    choose(page, "X-rays with labels")
    upload(page, xray_zip("clinic.zip", 20, 8))
    sees(page, "61 X-rays found.")
    press(page, "Classify 61 X-rays")
    page.get_by_text("Records used").wait_for(timeout=300_000)
    assert (metric(page, "Records read"), metric(page, "Diagnoses")) == ("60", "3")
    sees(page, "2 files were left out, and why")
    choose(page, "The paper's rule")
    page.locator(".st-key-plan_paper").get_by_role("button", name=re.compile("^Use ε")).click()
    settle(page)
    budget = page.get_by_role("spinbutton", name="Privacy budget of the data set")
    budget.fill("20")
    budget.press("Enter")
    settle(page)
    press(page, "Calibrate …")
    press(page, re.compile("^Spend ε"))
    sees(page, "Your calibration")
    assert len(releases(app, "clinic")) == 1


def test_folder_of_the_server_is_below_the_data_directory(app, page):
    (app.data / "wards" / "a").mkdir(parents=True, exist_ok=True)
    visit(page, app, "calibrate")
    choose(page, "X-rays with labels")
    page.get_by_text("On the server", exact=True).click()
    settle(page)
    page.get_by_role("combobox", name="Folder or zip below").click()
    options = page.get_by_role("option").all_inner_texts()
    assert options == ["the data directory itself", "wards", "wards/a"]
    page.get_by_role("option", name="wards/a").click()
    sees(page, "There is no usable X-ray")
