"""Tables of new patients: checked, privately too, handed over, and equal to what the commands write."""

import csv
import io
import json
import re

import pyarrow.parquet as pq

from ppsets_core import Calibration
from ppsets_core.__main__ import main
from tests.browser import driving as ui
from tests.browser.samples import csv_file, score_file
from tests.many_classes import CLASSES, table
from tests.reports.reading import Read


def test_a_table_is_checked_misses_first_and_counts_are_released_privately(app, new_page):
    page = new_page(400)
    ui.to_diagnose(page, app)
    page.get_by_role("radio", name="A table of probabilities").click()
    ui.sees(page, "Table of probabilities: CSV")  # the uploader for X-rays is there until the screen is redrawn
    ui.settle(page)
    ui.upload(page, score_file("checked.csv", 600, 2, patients=600))
    ui.sees(page, "600 with a known diagnosis")
    assert page.get_by_role("radio", name=re.compile(r"^Missed \(\d+\)"), checked=True).count() == 1
    table = pq.read_table(io.BytesIO(ui.downloaded(page, "Download all sets (Parquet)")))
    origin = json.loads(table.schema.metadata[b"ppsets"])
    assert (len(table), origin["calibration"]["epsilon"]) == (600, 1.0)
    page.get_by_text("Private check: counts that may be shown to others").click()
    ui.press(page, "Release a private check …")
    ui.press_twice(page, "Spend ε = 0.5 and release")
    ui.sees(page, "Released for ε = 0.5: this may be shown to anyone.")
    told = json.loads(ui.downloaded(page, "Download the private check (JSON)"))
    (release,) = ui.ledger_of(app).releases("checked")
    assert (release.kind, str(release.epsilon), told["epsilon"]) == ("check", "0.5", 0.5)
    assert ui.fits(page, 400)


def without_date(rows: list[dict]) -> list[dict]:
    return [{name: value for name, value in row.items() if name != "exported"} for row in rows]


def test_a_model_of_14_classes_from_scores_to_a_report(app, new_page, tmp_path, capsys):
    width = 400
    page = new_page(width)
    parts = {"split": ["calibration"] * 3000 + ["train"] * 200, "patient": [f"{width}-{row}" for row in range(3200)]}
    scores = csv_file(f"fourteen-{width}.csv", table(3200, width, extra=parts))
    ui.open_score_file(page, app, scores)
    ui.sees(page, "200 rows of the training part are left out")
    assert (ui.metric(page, "Records used"), ui.metric(page, "Diagnoses")) == ("3,000", "14")
    ui.choose(page, "each diagnosis")
    ui.move_slider(page, ui.EPSILON, 12)
    ui.fill(page, "Privacy budget of the data set", "5")
    ui.calibrate(page)
    (tmp_path / "cal.json").write_bytes(ui.downloaded(page, "Download calibration (JSON)"))
    assert Calibration.from_json((tmp_path / "cal.json").read_text(encoding="utf-8")).classes == CLASSES
    assert ui.fits(page, width)
    ui.press(page, re.compile("Go to Diagnose"))
    page.get_by_role("heading", name="Diagnose", exact=True).wait_for()
    ui.settle(page)
    page.get_by_role("radio", name="X-rays", exact=True).click()
    ui.sees(page, "This calibration cannot be used for X-rays with this model")
    page.get_by_role("radio", name="A table of probabilities").click()
    ui.sees(page, "Table of probabilities: CSV")
    ui.settle(page)
    (tmp_path / "new.csv").write_text(table(700, 1), encoding="utf-8")
    ui.upload(page, tmp_path / "new.csv")
    ui.sees(page, ui.CHECKED)
    assert ui.fits(page, width)
    counts = [int(ui.metric(page, kind)) for kind in ("One diagnosis", "Several", "None")]
    shown = page.locator(".st-key-check").inner_text()
    sets = ui.downloaded(page, "Download all sets (CSV)").decode()
    told = json.loads(ui.downloaded(page, "Download all sets (JSON)"))
    report = Read(ui.downloaded(page, "Report to print (HTML)").decode())
    files = {"csv": "own.csv", "json": "own.json"}
    command = [str(tmp_path / "new.csv"), "--calibration", str(tmp_path / "cal.json")]
    for name in files.values():
        assert main(["predict", *command, "--out", str(tmp_path / name)]) == 0
    capsys.readouterr()
    assert main(["check", *command, "--json"]) == 0
    check = json.loads(capsys.readouterr().out)
    own = list(csv.DictReader((tmp_path / "own.csv").open(encoding="utf-8")))
    assert without_date(list(csv.DictReader(sets.splitlines()))) == without_date(own)
    assert told["sets"] == json.loads((tmp_path / "own.json").read_text(encoding="utf-8"))["sets"]
    sizes = [len(patient["set"]) for patient in told["sets"]]
    assert counts == [sizes.count(1), sum(size > 1 for size in sizes), sizes.count(0)]
    assert check["words"] in shown
    assert check["words"] in report.words
    for name, line in check["by_diagnosis"].items():
        assert f"{name} {line['covered']} of {line['records']}" in report.words
