"""What is handed over: reports, a registry entry, DICOM reports, a private check, and the same sets as a command."""

import csv
import io
import json
import re
import zipfile

import pyarrow.parquet as pq
import yaml
from jsonschema import Draft7Validator
from pydicom import dcmread

from ppsets_core import Calibration
from ppsets_core.__main__ import main
from tests.browser import driving as ui
from tests.browser.samples import csv_file, score_file, xray_archive, xray_dicom, xray_pngs
from tests.many_classes import CLASSES, table
from tests.reports.reading import Read
from tests.reports.registry_schema import SCHEMA

FORM = {"Who publishes it": "St. Mary's", "Region of the records": "Bavaria", "Who answers for the entry": "A. Steward"}


def test_a_calibration_as_report_and_registry_entry(app, page):
    ui.open_score_file(page, app, score_file("handed.csv", 700, 1, patients=700))
    ui.calibrate(page)
    calibration = Calibration.from_json(ui.downloaded(page, "Download calibration (JSON)").decode())
    report = Read(ui.downloaded(page, "Report to print (HTML)").decode())
    assert f"{calibration.threshold:.6g}" in report.words
    assert "handed" in report.words
    page.get_by_text("An entry for OpenDP's registry of deployments").click()
    for label, words in FORM.items():
        ui.fill(page, label, words)
    entry = yaml.safe_load(ui.downloaded(page, "Download entry (YAML)"))
    Draft7Validator(SCHEMA).validate(entry)
    assert entry["deployment"]["privacy_loss"]["privacy_parameters"] == {"epsilon": 1.0}


def test_dicom_in_dicom_reports_out(app, page):
    ui.to_diagnose(page, app)
    study = {"StudyInstanceUID": "1.2.3.1", "SeriesInstanceUID": "1.2.3.1.2", "SOPInstanceUID": "1.2.3.1.2.1"}
    ui.get_sets(page, xray_dicom("scan.dcm", 3, **study))
    archive = zipfile.ZipFile(io.BytesIO(ui.downloaded(page, "DICOM structured reports (zip)")))
    (name,) = archive.namelist()
    report = dcmread(io.BytesIO(archive.read(name)))
    assert (report.Modality, report.StudyInstanceUID) == ("SR", "1.2.3.1")
    evidence = report.CurrentRequestedProcedureEvidenceSequence[0].ReferencedSeriesSequence[0]
    assert evidence.ReferencedSOPSequence[0].ReferencedSOPInstanceUID == "1.2.3.1.2.1"


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
    assert told["patients"] == json.loads((tmp_path / "own.json").read_text(encoding="utf-8"))["patients"]
    sizes = [len(patient["set"]) for patient in told["patients"]]
    assert counts == [sizes.count(1), sum(size > 1 for size in sizes), sizes.count(0)]
    assert check["words"] in shown
    assert check["words"] in report.words
    for name, line in check["by_diagnosis"].items():
        assert f"{name} {line['covered']} of {line['records']}" in report.words


def test_labels_in_a_zip_are_checked_and_results_say_what_they_are_of(app, page):
    ui.to_diagnose(page, app)
    ui.get_sets(page, xray_archive("ward.zip", 6, 0, labelled=True))
    ui.sees(page, "Results of ward.zip")
    ui.sees(page, "6 with a known diagnosis")
    check = page.locator(".st-key-check").get_by_test_id("stAlertContainer").first.inner_text()
    report = Read(ui.downloaded(page, "Report to print (HTML)").decode())
    assert " ".join(check.split()) in report.words
    ui.press(page, re.compile("^Remove"))
    ui.upload(page, *xray_pngs(1, 3))
    ui.sees(page, "these are the earlier results")
