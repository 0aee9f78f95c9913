"""The clinic's loop in the browser: calibrate, apply, check, hand over, come back; with the command line's results."""

import csv
import json
import re
from pathlib import Path

import pytest

from ppsets_core import Calibration, Ledger
from ppsets_core.__main__ import main
from tests.browser.driving import choose, metric, move_slider, press, sees, settle, upload, visit
from tests.browser.pictures import xray_archive, xray_pngs
from tests.browser.samples import csv_file
from tests.many_classes import CLASSES, table
from tests.reports.reading import Read

CARDS = "[class*=st-key-card-]"
WIDTHS = pytest.mark.parametrize("width", [1280, 400])


def releases(app) -> int:
    return len(Ledger(app.home / "ledger.sqlite").releases())


def saved(page, button: str, path: Path) -> str:
    with page.expect_download() as download:
        page.get_by_role("button", name=button).click()
    download.value.save_as(path)
    return path.read_text(encoding="utf-8")


def without_date(rows: list[dict]) -> list[dict]:
    return [{name: value for name, value in row.items() if name != "exported"} for row in rows]


def is_in_view(page, width: int) -> bool:
    return page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= width


@WIDTHS
def test_a_model_of_14_classes_from_scores_to_a_report(app, new_page, tmp_path, capsys, width):
    page = new_page(width)
    parts = {"split": ["calibration"] * 3000 + ["train"] * 200, "patient": [f"{width}-{row}" for row in range(3200)]}
    scores = csv_file(f"fourteen-{width}.csv", table(3200, width, extra=parts))
    visit(page, app, "calibrate")
    choose(page, "A score file")
    upload(page, scores)
    sees(page, "200 rows of the training part are left out")
    assert (metric(page, "Records used"), metric(page, "Diagnoses")) == ("3,000", "14")
    choose(page, "each diagnosis")
    move_slider(page, "Privacy loss (ε)", 12)
    budget = page.get_by_role("spinbutton", name="Privacy budget of the data set")
    budget.fill("5")
    budget.press("Enter")
    settle(page)
    press(page, "Calibrate …")
    press(page, re.compile("^Spend ε = 4"))
    sees(page, "Your calibration")
    calibration = saved(page, "Download calibration (JSON)", tmp_path / "cal.json")
    assert Calibration.from_json(calibration).classes == CLASSES
    assert is_in_view(page, width)

    press(page, re.compile("Go to Diagnose"))
    page.get_by_role("heading", name="Diagnose", exact=True).wait_for()
    settle(page)
    page.get_by_role("radio", name="X-rays", exact=True).click()
    sees(page, "This calibration cannot be used for X-rays with this model")
    page.get_by_role("radio", name="A table of probabilities").click()
    settle(page)
    (tmp_path / "new.csv").write_text(table(700, 1), encoding="utf-8")
    upload(page, tmp_path / "new.csv")
    sees(page, "Did the promise hold?")
    assert is_in_view(page, width)
    counts = [int(metric(page, kind)) for kind in ("One diagnosis", "Several", "None")]
    shown = page.locator(".st-key-check").inner_text()
    sets = saved(page, "Download all sets (CSV)", tmp_path / "screen.csv")
    told = json.loads(saved(page, "Download all sets (JSON)", tmp_path / "screen.json"))
    report = Read(saved(page, "Report to print (HTML)", tmp_path / "screen.html"))

    files = {"csv": "own.csv", "json": "own.json"}
    command = [str(tmp_path / "new.csv"), "--calibration", str(tmp_path / "cal.json")]
    for name in files.values():
        assert main(["predict", *command, "--out", str(tmp_path / name)]) == 0
    capsys.readouterr()
    assert main(["check", *command, "--json"]) == 0
    check = json.loads(capsys.readouterr().out)
    own = list(csv.DictReader((tmp_path / "own.csv").open(encoding="utf-8")))
    assert without_date(list(csv.DictReader(sets.splitlines()))) == without_date(own)
    assert told["patients"] == json.loads((tmp_path / "own.json").read_text(encoding="utf-8"))["patients"]
    sizes = [len(patient["set"]) for patient in told["patients"]]
    assert counts == [sizes.count(1), sum(size > 1 for size in sizes), sizes.count(0)]
    assert check["words"] in shown
    assert check["words"] in report.words
    for name, line in check["by_diagnosis"].items():
        assert f"{name} {line['covered']} of {line['records']}" in report.words


@WIDTHS
def test_after_a_reload_the_paid_release_is_offered_again(app, new_page, width):
    page = new_page(width)
    visit(page, app)
    press(page, "Try the demo")
    paid = releases(app)
    visit(page, app, "diagnose")
    sees(page, "This session has no calibration yet")
    press(page, re.compile("Use this release again"))
    sees(page, "What do you have?")
    visit(page, app)
    press(page, re.compile("Use this release again"))
    sees(page, "Active calibration:")
    assert releases(app) == paid


@WIDTHS
def test_labels_in_a_zip_are_checked_and_results_say_what_they_are_of(app, new_page, tmp_path, width):
    page = new_page(width)
    visit(page, app)
    press(page, "Try the demo")
    press(page, re.compile("Go to Diagnose"))
    page.get_by_role("heading", name="Diagnose", exact=True).wait_for()
    upload(page, xray_archive("ward.zip", 6, 0, labelled=True))
    press(page, re.compile("Get prediction sets"))
    page.locator(CARDS).first.wait_for(timeout=240_000)
    settle(page)
    sees(page, "Results of ward.zip")
    sees(page, "6 with a known diagnosis")
    check = page.locator(".st-key-check").get_by_test_id("stAlertContainer").first.inner_text()
    report = Read(saved(page, "Report to print (HTML)", tmp_path / "report.html"))
    assert " ".join(check.split()) in report.words
    assert is_in_view(page, width)
    page.get_by_role("button", name=re.compile("^Remove")).click()
    settle(page)
    upload(page, *xray_pngs(1, 3))
    sees(page, "these are the earlier results")
