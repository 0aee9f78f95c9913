"""Sets of a table: those of the library, ranked, with the file's identifiers, in three formats; and the check."""

import csv
import io
import json

import numpy as np
import pyarrow.parquet as pq
import pytest

from ppsets_core import Calibration, InputError, calibrate, evaluate, ranked_sets
from ppsets_core.commands.tables import in_lines
from ppsets_core.data import read_scores
from ppsets_core.diagnose.new_patients import (
    as_table,
    csv_of_sets,
    json_of_sets,
    parquet_of_sets,
    sets_of_new_patients,
)
from ppsets_core.diagnose.provenance import Provenance
from ppsets_core.novelty.watch import UNKNOWN
from ppsets_core.reports.rows import table_report
from tests.many_classes import CLASSES, table
from tests.reports.reading import Read


@pytest.fixture(scope="module")
def calibration() -> Calibration:
    return calibrate(read_scores(table(3000, 0).encode(), "cal.csv"), 0.1, 5.0, per="diagnosis")


@pytest.fixture(scope="module")
def sets(calibration):
    return sets_of_new_patients(read_scores(table(500, 1).encode(), classes=CLASSES, labels="optional"), calibration)


def test_sets_are_those_of_the_library_likeliest_first(sets, calibration):
    expected = ranked_sets(sets.patients.probabilities, calibration)
    assert sets.ranked == [[CLASSES[i] for i in one] for one in expected]
    counts = sets.counts()
    assert sum(counts.values()) == 500
    assert counts["one"] == sum(len(one) == 1 for one in expected)
    assert [len(sets.of_kind(kind)) for kind in (None, "several")] == [500, counts["several"]]


def test_every_format_tells_the_same(sets, calibration):
    origin = Provenance(calibration, None)
    rows = list(csv.DictReader(io.StringIO(csv_of_sets(sets, origin).decode())))
    read = pq.read_table(io.BytesIO(parquet_of_sets(sets, origin)))
    document = json.loads(json_of_sets(sets, origin))
    assert [row["id"] for row in rows] == read["id"].to_pylist() == [one["id"] for one in document["patients"]]
    assert [row["set"].split("; ") if row["set"] else [] for row in rows] == sets.ranked
    assert read["set"].to_pylist() == [one["set"] for one in document["patients"]] == sets.ranked
    assert float(rows[7][f"p({CLASSES[2]})"]) == document["patients"][7]["probabilities"][CLASSES[2]]
    assert [float(rows[0][f"cutoff({name})"]) for name in CLASSES] == [1 - t for t in calibration.thresholds]
    assert (rows[0]["alpha"], rows[0]["calibration"]) == ("0.1", "release")
    kept = json.loads(read.schema.metadata[b"ppsets"])["calibration"]
    assert Calibration.from_json(json.dumps(kept)) == calibration
    assert as_table(sets, sets.of_kind("one")).num_rows == sets.counts()["one"]


def test_formulas_are_shown_and_not_run(calibration):
    text = table(2, 1).replace("n0,", "=1+1,")
    sets = sets_of_new_patients(read_scores(text.encode(), classes=CLASSES, labels="optional"), calibration)
    assert b"'=1+1" in csv_of_sets(sets, Provenance(calibration, None))


def test_the_check_is_that_of_evaluate_on_rows_with_a_label(sets, calibration):
    patients = sets.patients
    expected = evaluate(patients.probabilities, patients.labels, calibration)
    assert sets.check.overall.coverage == expected.coverage
    assert len(sets.missed) == 500 - expected.covered
    shown = as_table(sets, sets.missed).to_pydict()
    assert not any(shown["covered"])
    assert not any(label in members.split("; ") for label, members in zip(shown["label"], shown["set"], strict=True))
    unlabelled = read_scores(table(20, 1, labelled=False).encode(), classes=CLASSES, labels="optional")
    assert sets_of_new_patients(unlabelled, calibration).check is None


def test_another_models_calibration_is_refused_with_what_to_do(calibration):
    other = read_scores(b"a,b\n0.5,0.5", labels="optional")
    with pytest.raises(InputError, match=r"for 14 classes .* Use the calibration of that model"):
        sets_of_new_patients(other, calibration)
    named = table(2000, 0, extra={"model": ["ab" * 8] * 2000})
    bound = calibrate(read_scores(named.encode(), "cal.csv"), 0.1, 5.0)
    foreign = read_scores(table(3, 1, extra={"model": ["cd" * 8] * 3}).encode(), classes=CLASSES, labels="optional")
    with pytest.raises(InputError, match="another model's scores"):
        sets_of_new_patients(foreign, bound)


def test_each_group_gets_its_own_threshold_and_an_unknown_one_everything():
    from ppsets_core import plan, simulate

    text = table(2000, 0, extra={"site": ["north", "south"] * 1000})
    records = read_scores(text.encode(), "cal.csv", group="site")
    chosen = plan(2000, 0.1, 5.0, per="site", groups=["north", "south"])
    drawn = simulate(records, chosen, np.random.default_rng(0))
    new = table(3, 5, extra={"site": ["north", "south", "east"]})
    patients = read_scores(new.encode(), classes=CLASSES, group="site", labels="optional")
    found = sets_of_new_patients(patients, drawn)
    for row, threshold in enumerate([*drawn.thresholds, 1.0]):
        assert found.members[row].tolist() == (1 - patients.probabilities[row] <= threshold).tolist()
    assert len(found.ranked[2]) == 14


def test_a_table_with_novelty_says_who_is_unlike_the_calibration_and_raises_the_alarm():
    def with_novelty(rows: int, seed: int, low: float) -> bytes:
        values = np.random.default_rng(seed).uniform(low, low + 0.5, rows).tolist()
        header, *lines = table(rows, seed).strip().split("\n")
        told = [f"{line},{value!r}" for line, value in zip(lines, values, strict=True)]
        return "\n".join([f"{header},novelty", *told]).encode()

    drawn = calibrate(read_scores(with_novelty(3000, 0, 0.0), "cal.csv"), 0.1, 5.0)
    for low, unlike in ((0.0, False), (0.5, True)):
        patients = read_scores(with_novelty(200, 1, low), classes=CLASSES, labels="optional")
        sets = sets_of_new_patients(patients, drawn)
        assert sets.alarm.is_on is unlike
        assert sets.familiar == (patients.novelty <= drawn.novelty_threshold).tolist()
        rows = list(csv.DictReader(io.StringIO(csv_of_sets(sets, Provenance(drawn, None)).decode())))
        assert [row["like the calibration's"] for row in rows] == [str(one).lower() for one in sets.familiar]
        document = json.loads(json_of_sets(sets, Provenance(drawn, None)))
        assert [one["familiar"] for one in document["patients"]] == sets.familiar
        assert (document["novelty"]["alarm"], document["novelty"]["like"]) == (unlike, "the calibration")
        report = Read(table_report(sets, Provenance(drawn, None)))
        assert report.words.count("(unlike the calibration's)") == sets.familiar.count(False)
        assert in_lines(sets, [], most=None).count("[unlike the calibration's]") == sets.familiar.count(False)
        assert sets.alarm.words in report.words


def test_of_a_table_without_novelty_it_is_said_that_it_cannot_be_told(sets):
    assert (sets.alarm.of, sets.alarm.is_on, sets.alarm.words) == (0, False, UNKNOWN)
    assert "like the calibration's" not in as_table(sets).column_names
