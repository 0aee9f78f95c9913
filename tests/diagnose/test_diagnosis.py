"""Answers, their counts, order and table, from findings made by hand."""

import csv
import io

import numpy as np
import pytest
from PIL import Image

from ppsets_core import InputError, Records, plan, simulate
from ppsets_core.diagnose import Finding, Findings, answers_of, counts, select
from ppsets_core.diagnose.answers import ORDERS
from ppsets_core.diagnose.provenance import Provenance
from ppsets_core.diagnose.table import csv_of, rows_of
from ppsets_core.diagnose.thumbnail import picture_of, thumbnail_of
from ppsets_core.xrays import Picture

CLASSES = ("a", "b", "c")


def findings(*rows, doubts=None, names=None):
    doubts, names = doubts or [""] * len(rows), names or [f"{i}.png" for i in range(len(rows))]
    xrays = [Finding(n, np.array(row), d, b"") for n, row, d in zip(names, rows, doubts, strict=True)]
    return Findings(CLASSES, tuple(xrays), ())


SURE, TORN, LOST, OPEN = (0.9, 0.05, 0.05), (0.45, 0.5, 0.05), (0.3, 0.35, 0.35), (0.34, 0.33, 0.33)


def test_plain_readings():
    one, several, none = answers_of(findings(SURE, TORN, LOST), 0.6)
    assert (one.kind, one.words) == ("one", "One diagnosis: a.")
    assert (several.kind, several.members) == ("several", ("b", "a"))
    assert several.words == "2 diagnoses remain: b or a. Not likely enough: c."
    assert none.kind == "none"
    assert "No diagnosis is likely enough" in none.words
    (full,) = answers_of(findings(OPEN), 1.0)
    assert full.words == "Every diagnosis that the model knows remains."


def test_a_calibration_of_other_diagnoses_is_refused():
    scores = np.linspace(0, 1, 500)
    drawn = simulate(Records("s", scores, scores, CLASSES), plan(500, 0.1, 1.0), np.random.default_rng(0))
    assert [answer.members for answer in answers_of(findings(SURE), drawn)] == [("a",)]
    for classes in (("a", "b"), ("b", "a", "c")):
        row = np.full(len(classes), 1 / len(classes))
        with pytest.raises(InputError, match=r"The calibration is for 3 classes \(a, b, c\)"):
            answers_of(Findings(classes, (Finding("x.png", row, "", b""),), ()), drawn)


def test_many_classes_are_counted_instead_of_named():
    names = tuple("abcdefgh")
    xray = Finding("x.png", np.array([0.5, 0.4, *[0.1 / 6] * 6]), "", b"")
    (answer,) = answers_of(Findings(names, (xray,), ()), 0.7)
    assert answer.words == "2 diagnoses remain: a or b. Not likely enough: 6 others."


def test_flagged_pictures_are_in_no_other_count():
    answers = answers_of(findings(SURE, TORN, SURE, doubts=["", "", "A colour picture."]), 0.6)
    assert counts(answers) == {"one": 1, "several": 1, "none": 0, "flagged": 1}
    assert [a.number for a in select(answers, "flagged", "as given")] == [2]
    assert [a.number for a in select(answers, "one", "as given")] == [0]


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("as given", [0, 1, 2]),
        ("most diagnoses first", [1, 0, 2]),
        ("fewest diagnoses first", [2, 0, 1]),
        ("least sure first", [2, 1, 0]),
        ("surest first", [0, 1, 2]),
        ("by file name", [2, 1, 0]),
    ],
)
def test_orders(order, expected):
    answers = answers_of(findings(SURE, TORN, LOST, names=["c.png", "b.png", "a.png"]), 0.6)
    assert [a.number for a in select(answers, None, order)] == expected
    assert order in ORDERS


def test_csv_has_every_x_ray_and_no_formula():
    answers = answers_of(findings(SURE, TORN, doubts=["", "=odd"], names=["=HYPERLINK(1)", " @x,\n"]), 0.6)
    drawn = simulate(np.linspace(0, 0.8, 500), plan(500, 0.1, 5.0), np.random.default_rng(0))
    first, second = csv.DictReader(io.StringIO(csv_of(answers, Provenance(drawn, None))))
    assert first["file"] == "'=HYPERLINK(1)"
    assert first["set"] == "a"
    assert first["p(a)"] == "0.900000"
    assert second["file"] == "' @x,\n"
    assert second["not a chest X-ray because"] == "'=odd"
    assert (second["set"], second["diagnoses"]) == ("", "")
    assert rows_of(answers)[0]["diagnoses"] == 1


def test_nothing_read_gives_nothing():
    assert answers_of(Findings(CLASSES, (), ()), 0.5) == []


@pytest.mark.parametrize(
    ("shape", "size"), [((900, 1200), (427, 320)), ((100, 80), (80, 100)), ((10, 40_000), (960, 1))]
)
def test_thumbnails_are_small_whatever_the_picture(shape, size):
    grey = np.linspace(0, 1, shape[0] * shape[1], dtype=np.float32).reshape(shape)
    small = thumbnail_of(Picture("x", grey, 0.0))
    assert Image.open(io.BytesIO(small)).size == size
    again = picture_of(small, "x")
    assert again.grey.shape == size[::-1]
    assert abs(again.grey.mean() - 0.5) < 0.02
