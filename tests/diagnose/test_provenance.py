"""What exports say about where their sets come from."""

import csv
import io
import json

import numpy as np
import pandas as pd
import pytest

from ppsets_core import Calibration, __version__, calibrate, plan, simulate
from ppsets_core.diagnose import Finding, Findings, answers_of
from ppsets_core.diagnose.provenance import Provenance
from ppsets_core.diagnose.table import csv_of
from tests.ledger.spending import records_of

SCORES, MODEL = np.linspace(0, 0.8, 1000), "0123456789abcdef"
FINDINGS = Findings(("a", "b"), (Finding("1.png", np.array([0.9, 0.1]), "", b""),) * 2, ())


@pytest.fixture
def drawn() -> Calibration:
    return calibrate(records_of(SCORES, model=MODEL), 0.1, 5.0)


def test_every_row_of_a_csv_says_what_cut_its_set(drawn):
    text = csv_of(answers_of(FINDINGS, drawn), Provenance(drawn, MODEL, exported="2026-01-31T12:00:00+00:00"))
    for row in csv.DictReader(io.StringIO(text)):
        assert float(row["cutoff(a)"]) == float(row["cutoff(b)"]) == pytest.approx(drawn.cutoff, abs=1e-6)
        assert (float(row["alpha"]), float(row["epsilon"]), row["rule"]) == (0.1, 5.0, "sharp")
        assert [row[f"calibration{what}"] for what in ("", " date", " records")] == ["release", drawn.date, "1000"]
        assert (row["calibration model"], row["model"], row["ppsets"]) == (MODEL, MODEL, __version__)
        assert row["exported"] == "2026-01-31T12:00:00+00:00"


def test_pandas_reads_it_without_being_told_how(drawn):
    read = pd.read_csv(io.StringIO(csv_of(answers_of(FINDINGS, drawn), Provenance(drawn, None))))
    assert len(read) == 2
    assert read["p(a)"].dtype == float
    assert read["epsilon"].unique().tolist() == [5.0]


def test_each_group_has_the_cutoff_that_was_used():
    groups = {"site": np.array(["north", "south"] * 500)}
    records = records_of(SCORES, groups=groups)
    drawn = simulate(records, plan(1000, 0.1, 5.0, per="site", groups=["north", "south"]), np.random.default_rng(0))
    origin = Provenance(drawn, None, "south")
    (row, _) = csv.DictReader(io.StringIO(csv_of(answers_of(FINDINGS, drawn, "south"), origin)))
    assert float(row["cutoff(a)"]) == pytest.approx(1 - drawn.thresholds[1], abs=1e-6)
    assert row["promised to"] == "each site: south"
    assert row["calibration"] == "simulation"


def test_the_document_holds_the_calibration_itself(drawn):
    found = json.loads(json.dumps(Provenance(drawn, MODEL).document()))
    assert Calibration.from_json(json.dumps(found["calibration"])) == drawn
    assert (found["model"], found["ppsets"]) == (MODEL, __version__)
