"""CSV, Parquet and JSON of X-rays and tables: the same columns, safe in a spreadsheet, with where sets come from."""

import csv
import io
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from ppsets_core import Calibration, __version__, calibrate, plan, simulate
from ppsets_core.data import read_scores
from ppsets_core.diagnose.exports import as_table, columns_of, csv_of, json_of, parquet_of
from ppsets_core.diagnose.novelty import OUTSIDE
from ppsets_core.diagnose.review import Mark, Marks
from ppsets_core.diagnose.set_table import sets_of
from ppsets_core.reports.sets import sets_report
from tests.diagnose.made import cut_at, xray_sets
from tests.ledger.spending import records_of
from tests.many_classes import CLASSES, table
from tests.reports.reading import Read

SCORES, MODEL = np.linspace(0, 0.8, 1000), "0123456789abcdef"


@pytest.fixture(scope="module")
def drawn() -> Calibration:
    return calibrate(records_of(SCORES, model=MODEL), 0.1, 5.0)


@pytest.fixture(scope="module", params=["X-rays", "table"])
def sets(request, drawn):
    """With everything that an export may have."""
    if request.param == "table":
        extra = {"novelty": [f"{value}" for value in np.linspace(0, 1, 50)], "model": [MODEL] * 50}
        text = table(50, 1, extra=extra).replace(f"n3,{CLASSES[0]}", "n3,").replace("n0,", "=1+1,")
        return sets_of(read_scores(text.encode(), classes=CLASSES, labels="optional"), drawn)
    rows = [(0.9, 0.05, 0.05), (0.45, 0.5, 0.05), (0.3, 0.35, 0.35)]
    facts = {"labels": ["a", "c", None], "doubts": ["", "", "=odd"], "names": ["=1+1", " @x,\n", "c.png"]}
    return xray_sets(rows, drawn, model=MODEL, novelty=[0.1, 0.9, 0.5], **facts)


def rows_of(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode(), newline="")))


def test_every_format_has_the_same_columns_and_values(sets, drawn):
    marks = Marks()
    marks.put(sets[1], Mark("agree", note="=note"))
    columns = columns_of(sets, marks=marks)
    rows, read = rows_of(csv_of(sets, marks)), pq.read_table(io.BytesIO(parquet_of(sets, marks)))
    document = json.loads(json_of(sets, ["a note"], marks))
    shares = [f"p({name})" for name in sets.classes]
    assert read.column_names == list(columns)
    assert list(rows[0])[: len(columns)] == list(columns)
    assert list(document["sets"][0]) == [*(name for name in columns if name not in shares), "probabilities"]
    for number, (row, one) in enumerate(zip(rows, document["sets"], strict=True)):
        stored = {name: read[name][number].as_py() for name in columns}
        assert stored == {name: value for name, value in one.items() if name != "probabilities"} | {
            f"p({name})": share for name, share in one["probabilities"].items()
        }
        assert row["set"] == "; ".join(stored["set"] or [])
        assert [float(row[name]) for name in shares] == sets.probabilities[number].tolist()
        assert [float(row[f"cutoff({name})"]) for name in sets.classes] == [drawn.cutoff] * len(sets.classes)
    assert (document["counts"], document["notes"]) == (sets.counts.readings, ["a note"])
    assert rows[0][next(iter(sets.records.identifiers))] == "'=1+1"
    assert rows[1]["reviewer's note"] == "'=note"
    assert as_table(sets, sets.rows("one")).num_rows == sets.counts.one


def test_the_columns_are_the_documented_ones(sets):
    text = (Path(__file__).parents[2] / "docs" / "exports.md").read_text(encoding="utf-8")
    documented = set(re.findall(r"^\| `([^`]+)`", text, flags=re.M))
    found = {re.sub(r"\(.*\)", "(class)", name) for name in rows_of(csv_of(sets, Marks()))[0]}
    assert found <= documented


def test_a_flagged_picture_has_no_set_and_an_unknown_diagnosis_is_neither_covered_nor_missed(drawn):
    rows = [(0.9, 0.05, 0.05), (0.9, 0.05, 0.05), (0.9, 0.05, 0.05)]
    sets = xray_sets(rows, cut_at(0.6), labels=["a", "b", None], doubts=["", "", "A hand."])
    columns = columns_of(sets)
    assert columns["covered"] == [True, False, None]
    assert columns["true diagnosis"] == ["a", "b", None]
    assert (columns["reading"][2], columns["set"][2], columns["diagnoses"][2]) == ("flagged", None, None)
    assert columns["flagged because"] == [None, None, "A hand."]


def test_every_row_of_a_csv_says_what_cut_its_set(sets, drawn):
    for row in rows_of(csv_of(sets)):
        assert (float(row["alpha"]), float(row["epsilon"]), row["rule"]) == (0.1, 5.0, "sharp")
        assert [row[f"calibration{what}"] for what in ("", " date", " records")] == ["release", drawn.date, "1000"]
        assert (row["calibration model"], row["model"], row["ppsets"]) == (MODEL, MODEL, __version__)
    read = pd.read_csv(io.BytesIO(csv_of(sets)))
    assert read[f"p({sets.classes[0]})"].dtype == float
    assert read["epsilon"].unique().tolist() == [5.0]


def test_the_group_that_all_are_of_has_its_cutoff_and_is_named():
    records = records_of(SCORES, groups={"site": np.array(["north", "south"] * 500)})
    chosen = plan(1000, 0.1, 5.0, per="site", groups=["north", "south"])
    drawn = simulate(records, chosen, np.random.default_rng(0))
    (row,) = rows_of(csv_of(xray_sets([(0.9, 0.1)], drawn, "south", classes=("a", "b"))))
    assert float(row["cutoff(a)"]) == drawn.cutoffs[1]
    assert (row["promised to"], row["calibration"]) == ("each site: south", "simulation")


def test_parquet_and_json_hold_the_calibration_itself(sets, drawn):
    stored = pq.read_schema(io.BytesIO(parquet_of(sets))).metadata[b"ppsets"]
    for found in (json.loads(stored), json.loads(json_of(sets))["provenance"]):
        assert Calibration.from_json(json.dumps(found["calibration"])) == drawn
        assert (found["model"], found["ppsets"]) == (MODEL, __version__)


def test_unfamiliar_patients_are_marked_everywhere_and_raise_the_alarm():
    def with_novelty(rows: int, seed: int, low: float):
        values = np.random.default_rng(seed).uniform(low, low + 0.5, rows)
        return table(rows, seed, extra={"novelty": [repr(value) for value in values.tolist()]}).encode()

    drawn = calibrate(read_scores(with_novelty(3000, 0, 0.0), "cal.csv"), 0.1, 5.0, novelty_share=0.2)
    for low, alarmed in ((0.0, False), (0.5, True)):
        records = read_scores(with_novelty(200, 1, low), classes=CLASSES, labels="optional")
        sets = sets_of(records, drawn)
        unfamiliar = (records.novelty > drawn.novelty_threshold).tolist()
        assert sets.alarm.is_on is alarmed
        assert [row["unfamiliar"] == "true" for row in rows_of(csv_of(sets))] == unfamiliar
        sentence = f"{OUTSIDE} Unlike your calibration's."
        assert [row["caution"] == sentence for row in rows_of(csv_of(sets))] == unfamiliar
        document = json.loads(json_of(sets))
        assert [one["unfamiliar"] for one in document["sets"]] == unfamiliar
        (threshold,) = document["novelty"]["thresholds"]
        assert (document["novelty"]["alarm"], threshold["compared with"]) == (alarmed, "your calibration's")
        report = Read(sets_report(sets))
        assert report.words.count(sentence) == sum(unfamiliar)
        assert sets.alarm.words in report.words
