"""What is handed over, as downloaded on the screens: reports, a registry entry, DICOM reports, a private check."""

import io
import json
import re
import zipfile

import pyarrow.parquet as pq
import pytest
import yaml
from jsonschema import Draft7Validator
from pydicom import dcmread

from ppsets_core import Calibration, Ledger
from tests.browser.driving import choose, press, sees, settle, upload, visit
from tests.browser.samples import score_file
from tests.drawn_xrays import draw_xrays
from tests.reports.reading import Read
from tests.reports.registry_schema import SCHEMA
from tests.xrays.samples import dicom

WIDTHS = pytest.mark.parametrize("width", [1400, 400])
FORM = {"Who publishes it": "St. Mary's", "Region of the records": "Bavaria", "Who answers for the entry": "A. Steward"}
CARDS = "[class*=st-key-card-]"


def downloaded(page, button: str | re.Pattern) -> bytes:
    with page.expect_download() as download:
        page.get_by_role("button", name=button).click()
    return download.value.path().read_bytes()


def to_diagnose(page, app) -> None:
    visit(page, app)
    press(page, "Try the demo")
    press(page, re.compile("Go to Diagnose"))
    page.get_by_role("heading", name="Diagnose", exact=True).wait_for()
    settle(page)


@WIDTHS
def test_a_calibration_as_report_and_registry_entry(app, new_page, width):
    page = new_page(width)
    visit(page, app, "calibrate")
    choose(page, "A score file")
    upload(page, score_file(f"handed-{width}.csv", 700, width, patients=700))
    press(page, "Calibrate …")
    press(page, re.compile("^Spend ε"))
    sees(page, "Your calibration")
    calibration = Calibration.from_json(downloaded(page, "Download calibration (JSON)").decode())
    report = Read(downloaded(page, "Report to print (HTML)").decode())
    assert f"{calibration.threshold:.6g}" in report.words
    assert f"handed-{width}" in report.words
    page.get_by_text("An entry for OpenDP's registry of deployments").click()
    for label, words in FORM.items():
        page.get_by_label(label, exact=True).fill(words)
        page.get_by_label(label, exact=True).press("Enter")
        settle(page)
    entry = yaml.safe_load(downloaded(page, "Download entry (YAML)"))
    Draft7Validator(SCHEMA).validate(entry)
    assert entry["deployment"]["privacy_loss"]["privacy_parameters"] == {"epsilon": 1.0}
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= width


def test_dicom_in_dicom_reports_out(app, page):
    to_diagnose(page, app)
    grey = (draw_xrays(1, 3)[0].grey * 255).astype("uint8")
    scan = dicom(grey, StudyInstanceUID="1.2.3.1", SeriesInstanceUID="1.2.3.1.2", SOPInstanceUID="1.2.3.1.2.1")
    upload(page, {"name": "scan.dcm", "mimeType": "application/dicom", "buffer": scan})
    press(page, re.compile("Get prediction sets"))
    page.locator(CARDS).first.wait_for(timeout=240_000)
    settle(page)
    archive = zipfile.ZipFile(io.BytesIO(downloaded(page, "DICOM structured reports (zip)")))
    (name,) = archive.namelist()
    report = dcmread(io.BytesIO(archive.read(name)))
    assert (report.Modality, report.StudyInstanceUID) == ("SR", "1.2.3.1")
    evidence = report.CurrentRequestedProcedureEvidenceSequence[0].ReferencedSeriesSequence[0]
    assert evidence.ReferencedSOPSequence[0].ReferencedSOPInstanceUID == "1.2.3.1.2.1"


@WIDTHS
def test_a_table_is_checked_misses_first_and_counts_are_released_privately(app, new_page, width):
    page = new_page(width)
    to_diagnose(page, app)
    page.get_by_role("radio", name="A table of probabilities").click()
    settle(page)
    upload(page, score_file(f"checked-{width}.csv", 600, width + 1, patients=600))
    sees(page, "600 with a known diagnosis")
    assert page.get_by_role("radio", name=re.compile(r"^Missed \(\d+\)"), checked=True).count() == 1
    table = pq.read_table(io.BytesIO(downloaded(page, "Download all sets (Parquet)")))
    origin = json.loads(table.schema.metadata[b"ppsets"])
    assert (len(table), origin["calibration"]["epsilon"]) == (600, 1.0)
    page.get_by_text("Private check: counts that may be shown to others").click()
    press(page, "Release a private check …")
    page.get_by_role("button", name="Spend ε = 0.5 and release").dblclick()
    sees(page, "Released for ε = 0.5: this may be shown to anyone.")
    told = json.loads(downloaded(page, "Download the private check (JSON)"))
    (release,) = Ledger(app.home / "ledger.sqlite").releases(f"checked-{width}")
    assert (release.kind, str(release.epsilon), told["epsilon"]) == ("check", "0.5", 0.5)
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= width
