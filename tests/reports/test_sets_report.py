"""The report of a batch: every X-ray with its set, whatever its name says, and nothing that needs a network."""

import base64
import re
import shutil

import numpy as np
import pytest

from ppsets_core import calibrate, evaluate
from ppsets_core.__main__ import main
from ppsets_core.diagnose.review import Mark, Marks
from ppsets_core.diagnose.xrays import thumbnail_of
from ppsets_core.places import ASSETS
from ppsets_core.reports import sets as sets_module
from ppsets_core.reports.sets import sets_report
from ppsets_core.wording import class_names
from ppsets_core.xrays import Picture, Refused
from tests.diagnose.made import xray_sets
from tests.ledger.spending import records_of
from tests.reports.reading import Read

CLASSES, MODEL = ("normal", "viral", "<i>other</i>"), "0123456789abcdef"
PICTURE = thumbnail_of(Picture("x", np.linspace(0, 1, 10_000, dtype=np.float32).reshape(100, 100), 0.0))
ROWS = [(0.9, 0.06, 0.04), (0.5, 0.45, 0.05), (0.34, 0.33, 0.33)]


@pytest.fixture(scope="module")
def drawn():
    return calibrate(records_of(np.linspace(0, 0.7, 2000), model=MODEL, classes=CLASSES), 0.1, 20.0)


def sets(drawn, pictures=True, doubt="", model=MODEL, **facts):
    names = ["a.png", "<script>alert(1)</script>.png", "c\u202e.png"]
    facts = {"thumbnails": [PICTURE if pictures else b""] * 3, "doubts": ["", "", doubt], "names": names} | facts
    return xray_sets(ROWS, drawn, classes=CLASSES, model=model, **facts)


def test_a_card_for_each_with_its_picture_inside(drawn):
    document = sets_report(sets(drawn))
    read = Read(document)
    assert [base64.b64decode(a.partition(",")[2]) for a in read.addresses] == [PICTURE] * 3
    assert all(address.startswith("data:image/jpeg;base64,") for address in read.addresses)
    assert not {"script", "link", "iframe", "i"} & set(read.elements)
    cutoff = f"{drawn.cutoff:.3g}"
    said = (
        "3 X-rays",
        "<script>alert(1)</script>.png",
        "One diagnosis: normal.",
        "2 diagnoses remain: normal or viral.",
    )
    shown = (f"normal 0.900 ≥ {cutoff}", f"viral 0.060 < {cutoff}", MODEL, drawn.date)
    for words in (*said, *shown, "not a guarantee for any single patient"):
        assert words in read.words
    assert "\u202e" not in document


def test_a_flagged_picture_has_no_set(drawn):
    read = Read(sets_report(sets(drawn, doubt="A colour picture.")))
    assert "Flagged. A colour picture." in read.words
    assert read.words.count("0.340") == 0


@pytest.mark.parametrize("why", ["no pictures", "too many"])
def test_a_table_where_cards_will_not_do(drawn, why, monkeypatch):
    monkeypatch.setattr(sets_module, "MOST_CARDS", 2)
    read = Read(sets_report(sets(drawn, pictures=why == "too many")))
    assert "img" not in read.elements
    assert "a.png one diagnosis normal 0.900" in read.words


def test_what_was_left_out_is_told(drawn):
    refused = [Refused(f"{number}.png", "It is <b>cut off</b>.") for number in range(103)]
    read = Read(sets_report(sets(drawn, refused=refused)))
    assert "Not readable: 103" in read.words
    assert "And 3 more." in read.words
    assert "99.png It is <b>cut off</b>." in read.words


def test_on_the_command_line_folders_named_after_diagnoses_are_checked(tmp_path, capsys):
    saved, out, xrays = tmp_path / "cal.json", tmp_path / "report.html", tmp_path / "xrays" / "normal"
    saved.write_text(calibrate(np.linspace(0, 0.7, 2000), 0.1, 20.0).to_json(), encoding="utf-8")
    xrays.mkdir(parents=True)
    shutil.copy(ASSETS / "synthetic_02_normal.png", xrays)
    command = ["predict", str(xrays.parent), "--calibration", str(saved), "--report", str(out)]
    assert main(command) == 0
    told, read = capsys.readouterr().out, Read(out.read_text(encoding="utf-8"))
    assert len(read.addresses) == 1
    members = re.search(r"synthetic_02_normal.png\s+(\S.*)", told)[1].split(", ")
    assert all(f"{class_names([slug])[0]} {share}" in read.words for slug, share in map(str.split, members))
    assert main(["check", str(xrays.parent), "--calibration", str(saved)]) == 0
    assert capsys.readouterr().out.splitlines()[0] in read.words
    assert main(command) == 2
    assert "exists" in capsys.readouterr().err


def test_labelled_x_rays_are_checked_with_the_numbers_of_evaluate(drawn, monkeypatch):
    told = ["normal", "<i>other</i>", "viral", None, "viral"]
    rows = [ROWS[number % 3] for number in range(len(told))]
    known = [number for number, label in enumerate(told) if label]
    held = evaluate(np.array(rows)[known], np.array([CLASSES.index(told[number]) for number in known]), drawn)
    assert 0 < held.covered < held.records == 4
    found = xray_sets(rows, drawn, classes=CLASSES, model=MODEL, labels=told, thumbnails=[PICTURE] * 5)
    for most in (200, 2):
        monkeypatch.setattr(sets_module, "MOST_CARDS", most)
        read = Read(sets_report(found))
        assert "Did the promise hold here?" in read.words
        assert "Not private: computed from the labels" in read.words
        assert f"all together {held.covered} of 4 {100 * held.coverage:.1f}%" in read.words
        for name, count, share in zip(CLASSES, held.class_counts, held.coverage_by_class, strict=True):
            assert f"diagnosis {name} {round(share * count)} of {count} {100 * share:.1f}%" in read.words
        assert read.words.count("Missed · true: <i>other</i>") == 1
        assert f"{4 - held.covered} missed" in read.words
    assert "Did the promise hold here?" not in Read(sets_report(sets(drawn))).words


def test_review_marks_stand_on_the_cards_and_in_the_table(drawn, monkeypatch):
    found, marks = sets(drawn), Marks()
    marks.put(found[1], Mark("another", "viral", "<u>see</u> the left lung"))
    for most in (200, 2):
        monkeypatch.setattr(sets_module, "MOST_CARDS", most)
        read = Read(sets_report(found, marks=marks))
        assert "Another diagnosis: viral. <u>see</u> the left lung" in read.words
        assert read.words.count("Another diagnosis") == 1
