"""Structured reports, read back: TID 1500, of the image's patient and study, with the set and what it needed."""

import io
import json
import os
import subprocess
import sys
import zipfile

import highdicom
import numpy as np
import pytest
from pydicom import dcmread
from pydicom.sr.codedict import codes

from ppsets_core import Records, calibrate
from ppsets_core.__main__ import main
from ppsets_core.diagnose.exports import csv_of, json_of, parquet_of
from ppsets_core.diagnose.novelty import OUTSIDE
from ppsets_core.reports.sets import sets_report
from ppsets_core.reports.structured import has_structured_report, structured_report, structured_reports, zipped
from ppsets_core.xrays import read_picture
from tests.diagnose.made import xray_sets
from tests.drawn_xrays import draw_xrays
from tests.pages.driving import ROOT
from tests.xrays import samples

CLASSES = ("bacterial", "normal", "viral")
SCORES = np.linspace(0, 0.7, 2000)
STUDY = {"StudyInstanceUID": "1.2.3.1", "SeriesInstanceUID": "1.2.3.1.2", "StudyDate": "20260131"}
PATIENT = {
    "SpecificCharacterSet": "ISO_IR 192",
    "PatientName": "Muñoz^Ana",
    "PatientID": "SECRET-17",
    "PatientSex": "F",
}


@pytest.fixture(scope="module")
def drawn():
    return calibrate(SCORES, 0.1, 20.0)


def sets_with(drawn, row=(0.45, 0.05, 0.5), doubt="", novelty=None, more=(), **tags):
    headers = [read_picture(samples.dicom(samples.film(), **tags | one), "x.dcm").header for one in ({}, *more)]
    facts = {"doubts": [doubt] * len(headers), "identities": [header.identity for header in headers]}
    novelty = None if novelty is None else [novelty] * len(headers)
    return xray_sets([row] * len(headers), drawn, classes=CLASSES, model="0" * 16, novelty=novelty, **facts)


def report_of(sets) -> bytes:
    return structured_report(sets[0], sets.provenance())


def group_of(sets):
    (group,) = highdicom.sr.srread(io.BytesIO(report_of(sets))).content.get_image_measurement_groups()
    return group


@pytest.mark.parametrize(
    ("tag", "value"),
    [
        ("PatientID", "17"),
        ("PatientName", "Anna Secret"),
        ("PatientName", "Roe\\Doe"),
        ("PatientSex", "U"),
        ("PatientSex", "x" * 99),
        ("PatientBirthDate", "spring"),
        ("StudyDate", "20200101-20200202"),
        ("StudyTime", "<b>"),
    ],
)
def test_what_dicom_would_not_let_us_write_is_left_empty(drawn, tag, value):
    identity = {**sets_with(drawn, **STUDY, **PATIENT).xrays.identities[0], tag: value}
    sets = xray_sets([(0.45, 0.05, 0.5)], drawn, classes=CLASSES, identities=[identity])
    report = dcmread(io.BytesIO(report_of(sets)))
    assert str(report[tag].value or "") == (value if value in ("17", "Anna Secret") else "")


def test_an_image_that_no_report_may_refer_to_takes_no_other_down(drawn):
    files = structured_reports(sets_with(drawn, more=[{"SOPClassUID": "1.2.3"}], **STUDY | PATIENT))
    with zipfile.ZipFile(io.BytesIO(zipped(files))) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == files
    assert len(files) == 1


def test_it_refers_to_its_image_and_belongs_to_its_study(drawn):
    report = dcmread(io.BytesIO(report_of(sets_with(drawn, SOPInstanceUID="1.2.3.4", **STUDY, **PATIENT))))
    assert report.Modality == "SR"
    assert (report.PatientName, report.PatientID, report.PatientSex) == ("Muñoz^Ana", "SECRET-17", "F")
    assert (report.StudyInstanceUID, report.StudyDate) == ("1.2.3.1", "20260131")
    assert report.SeriesInstanceUID != STUDY["SeriesInstanceUID"]
    evidence = report.CurrentRequestedProcedureEvidenceSequence[0].ReferencedSeriesSequence[0]
    assert evidence.SeriesInstanceUID == STUDY["SeriesInstanceUID"]
    assert evidence.ReferencedSOPSequence[0].ReferencedSOPInstanceUID == "1.2.3.4"
    assert (report.VerificationFlag, report.PreliminaryFlag) == ("UNVERIFIED", "PRELIMINARY")


@pytest.mark.parametrize(("novelty", "told"), [(0.9, OUTSIDE), (0.1, "Familiar")])
def test_it_says_whether_the_image_is_familiar(novelty, told):
    records = Records("", SCORES, CLASSES, novelty=SCORES)
    drawn = calibrate(records, 0.1, 20.0, novelty_share=0.2)
    group = group_of(sets_with(drawn, novelty=novelty, **STUDY))
    values = [item.value.meaning for item in group.get_qualitative_evaluations() if item.name.value == "familiar"]
    assert values == [told], "at most 64 letters, so that DICOM keeps the sentence whole"


def test_the_set_is_read_back_likeliest_first_with_every_probability_and_cutoff(drawn):
    data = report_of(sets_with(drawn, **STUDY))
    report = highdicom.sr.ComprehensiveSR.from_dataset(dcmread(io.BytesIO(data)))
    assert report.ContentTemplateSequence[0].TemplateIdentifier == "1500"
    (group,) = report.content.get_image_measurement_groups()
    assert [item.value.meaning for item in group.get_qualitative_evaluations()] == ["viral", "bacterial"]
    measured = {item.name.meaning: item.value for item in group.get_measurements()}
    assert measured == pytest.approx(
        {f"Probability of {name}": p for name, p in zip(CLASSES, (0.45, 0.05, 0.5), strict=True)}
        | {f"Probability needed for {name}": drawn.cutoff for name in CLASSES}
    )
    (image,) = group.source_images
    assert image.referenced_sop_class_uid == "1.2.840.10008.5.1.4.1.1.1.1"
    told = " ".join(item.value for item in group[0].ContentSequence if item.name == codes.DCM.AlgorithmParameters)
    for words in (
        "α = 0.1, ε = 20",
        "Model: 0000000000000000",
        "not a guarantee for any single patient",
        "Not a medical device",
    ):
        assert words in told
    (none,) = group_of(sets_with(drawn, row=(0.34, 0.33, 0.33), **STUDY)).get_qualitative_evaluations()
    assert none.value.meaning == "No diagnosis is likely enough"


@pytest.mark.filterwarnings("ignore:Invalid value for VR UI")
@pytest.mark.parametrize(
    ("tags", "doubt"),
    [({}, ""), ({"StudyInstanceUID": "1.02"}, ""), ({"StudyInstanceUID": ""}, ""), (STUDY, "A hand.")],
)
def test_an_image_that_cannot_be_referred_to_and_a_flagged_picture_have_none(drawn, tags, doubt):
    sets = sets_with(drawn, doubt=doubt, **(STUDY | tags if tags else {}))
    assert not has_structured_report(sets[0])
    assert structured_reports(sets) == {}


def test_no_other_export_names_the_patient(drawn):
    sets = sets_with(drawn, **STUDY, **PATIENT)
    assert "SECRET-17" in sets.xrays.identities[0]["PatientID"]
    exports = (csv_of(sets).decode(), str(parquet_of(sets)), json_of(sets), sets_report(sets))
    for text in (*exports, repr(sets), repr(sets[0])):
        for private in ("SECRET", "Ana", STUDY["StudyInstanceUID"]):
            assert private not in text


def test_on_the_command_line(drawn, tmp_path, capsys):
    grey = draw_xrays(1, seed=1)[0].pixels
    (tmp_path / "a.dcm").write_bytes(samples.dicom(grey, Modality="DX", **STUDY, **PATIENT))
    (tmp_path / "b.png").write_bytes(samples.png(grey))
    saved, out = tmp_path / "cal.json", tmp_path / "sr"
    saved.write_text(drawn.to_json(), encoding="utf-8")
    images = [str(tmp_path / name) for name in ("a.dcm", "b.png")]
    assert main(["predict", *images, "--calibration", str(saved), "--json", "--sr", str(out)]) == 0
    told = capsys.readouterr()
    assert "1 of 2 X-rays have a structured report" in told.err
    assert "SECRET" not in told.out + told.err
    (group,) = highdicom.sr.srread(out / "set-0001.dcm").content.get_image_measurement_groups()
    said = [(item.name.value, item.value.meaning) for item in group.get_qualitative_evaluations()]
    assert said.pop() == ("familiar", "Familiar")
    assert [value for _, value in said] == json.loads(told.out)["sets"][0]["set"]


@pytest.mark.faults
def test_no_library_quotes_a_header_in_a_warning(drawn, tmp_path):
    grey = draw_xrays(1, seed=1)[0].pixels
    odd = (
        {"StudyInstanceUID": "1.2.19570311.0042.7"},
        {"PatientName": "Anna Secret"},
        {"SpecificCharacterSet": "Secret"},
    )
    for number, tags in enumerate(odd):
        (tmp_path / f"{number}.dcm").write_bytes(samples.dicom(grey, Modality="DX", **STUDY | PATIENT | tags))
    (tmp_path / "cal.json").write_text(drawn.to_json(), encoding="utf-8")
    command = ["predict", *(f"{number}.dcm" for number in range(3)), "--calibration", "cal.json", "--sr", "sr"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "cp1252"}
    told = subprocess.run(
        [sys.executable, "-m", "ppsets_core", *command], cwd=tmp_path, env=environment, capture_output=True, check=True
    )
    assert "Warning" not in told.stderr.decode()
    assert "Secret" not in told.stderr.decode()
    assert "0042" not in told.stderr.decode()
    assert "Coverage at least 0.9" in told.stdout.decode("utf-8")
