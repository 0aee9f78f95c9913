"""Calibrations and simulations: what they hold, and JSON that can only be read back as what it was."""

import json
import math
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ppsets_core as pp
from ppsets_core.data.counts import select
from ppsets_core.data.records import chosen
from ppsets_core.data.source import open_source
from ppsets_core.method.calibration_json import read_calibration
from ppsets_core.method.release import release
from ppsets_core.method.rules import RULES
from ppsets_core.scores import Raps

SCORES = np.random.default_rng(1).random(1000)
MODEL = "ab" * 8


def made_by(model: str | None, patients: bool = False, classes: tuple[str, ...] = ()) -> pp.Records:
    names = np.array([f"patient {i}" for i in range(len(SCORES))]) if patients else None
    unit = "patient" if patients else "record"
    return pp.Records("ward", SCORES, classes, patients=names, model=model, unit=unit)


@pytest.mark.parametrize("method", RULES)
def test_a_release_is_an_edge_with_the_plans_numbers(method):
    calibration = pp.calibrate(SCORES, 0.1, 1.0, method=method)
    assert calibration.plan == pp.plan(1000, 0.1, 1.0, method=method)
    assert type(calibration) is pp.Calibration
    assert calibration.epsilon_spent == 1.0
    assert calibration.threshold * calibration.m == pytest.approx(round(calibration.threshold * calibration.m))
    assert calibration.cutoff == 1 - (calibration.threshold + 1e-6)


def test_a_trivial_calibration_spends_nothing_and_is_the_same_for_all_data():
    for scores in (SCORES[:8], np.zeros(8), np.ones(8)):
        calibration = pp.calibrate(scores, 0.1, 0.1)
        assert calibration.is_trivial
        assert (calibration.threshold, calibration.epsilon_spent) == (1.0, 0.0)


def test_a_simulation_is_another_type_and_never_read_as_a_release():
    simulation = pp.simulate(SCORES, pp.plan(1000, 0.1, 1.0), np.random.default_rng(0))
    assert type(simulation) is pp.Simulation
    assert not isinstance(simulation, pp.Calibration)
    assert simulation.epsilon_spent == 0
    document = json.loads(simulation.to_json())
    assert document["kind"] == "simulation"
    assert not document.keys() & {"unit", "dataset", "date"}
    assert type(read_calibration(simulation.to_json())) is pp.Simulation
    with pytest.raises(pp.InputError, match="This is a simulation"):
        pp.Calibration.from_json(simulation.to_json())
    for changed in (document | {"kind": "release"}, {k: v for k, v in document.items() if k != "kind"}):
        with pytest.raises(pp.InputError, match="is missing"):
            read_calibration(json.dumps(changed))


@pytest.mark.parametrize("spend", [pp.calibrate, release], ids=["calibrate", "release"])
def test_no_generator_turns_a_release_into_a_simulation(spend):
    arguments = (SCORES, 0.1, 1.0) if spend is pp.calibrate else (made_by(None), pp.plan(1000, 0.1, 1.0))
    with pytest.raises(TypeError, match="unexpected keyword argument 'rng'"):
        spend(*arguments, rng=np.random.default_rng(0))


def test_what_it_protects_whose_model_it_is_who_paid_and_when_are_kept():
    drawn = pp.calibrate(SCORES, 0.1, 1.0)
    assert (drawn.unit, drawn.model, drawn.classes, drawn.is_for(MODEL), drawn.dataset) == (
        "record",
        None,
        (),
        None,
        None,
    )
    ward = made_by(MODEL, patients=True, classes=("flu", "none"))
    paid = release(ward.counts(pp.plan(1000, 0.1, 1.0)), dataset="Ward 3")
    back = pp.Calibration.from_json(paid.to_json())
    assert (back.unit, back.model, back.classes, back.dataset) == ("patient", MODEL, ("flu", "none"), "Ward 3")
    assert (back.is_for(MODEL), back.is_for("cd" * 8), back.is_for(None)) == (True, False, None)
    assert (back.date, back.date[10], back.date[-6:]) == (paid.date, "T", "+00:00")


VERSION_4 = json.loads((Path(__file__).parents[1] / "reference" / "calibrations_version_4.json").read_text())


@pytest.mark.parametrize("old", VERSION_4, ids=lambda old: f"{old['kind']} {old['method']} {old['per']} {old['n']}")
def test_version_4_is_read_strictly_and_older_ones_are_refused(old):
    """As the program wrote them while version 4 was its own: with and without novelty, for all or each of some."""
    read = read_calibration(json.dumps(old))
    thresholds = [old["threshold"]] if old["per"] is None else [*old["thresholds"].values()]
    assert [*read.thresholds] == thresholds
    assert read.novelty_threshold == (old["familiarity"] or {}).get("threshold")
    assert (read.m, read.gamma, read.level, read.rank) == tuple(old[name] for name in ("m", "gamma", "level", "rank"))
    assert read_calibration(read.to_json()) == read
    for name in old:
        with pytest.raises(pp.InputError, match="cannot be used"):
            read_calibration(json.dumps({key: value for key, value in old.items() if key != name}))
    with pytest.raises(pp.InputError, match="version is neither 4 nor 5"):
        read_calibration(json.dumps(old | {"version": 3}))


WHOLE = pp.Records("ward", SCORES, ("a", "b"), labels=np.arange(1000) % 2, novelty=SCORES)
WRITTEN = {
    "paper": pp.calibrate(SCORES, 0.1, 1.0, method="paper"),
    "with novelty": pp.calibrate(WHOLE, 0.1, 1.0, novelty_share=0.2),
    "too few for novelty": pp.calibrate(chosen(WHOLE, np.arange(100)), 0.1, 1.0, novelty_share=0.2),
    "each diagnosis": pp.calibrate(WHOLE, 0.1, 1.0, per="diagnosis"),
    "trivial": pp.calibrate(chosen(WHOLE, np.arange(20)), 0.1, 0.1, novelty_share=0.2),
    "raps": pp.calibrate(pp.Records("ward", SCORES, score=Raps(0.1, 1)), 0.1, 1.0),
    "simulation": pp.simulate(SCORES, pp.plan(1000, 0.1, 1.0), np.random.default_rng(0)),
}
NAMES = ("x", "0.5", "=cmd|x", "2026-13-45T00:00:00+00:00", "2026-01-31T12:00:00")
NUMBERS = (-5, 0, 0.5, 0.123456, 1, 1.5, 4, 900, 1000.5, 10**400, -(10**400), 5e-324, math.nan, math.inf)
LISTS = ([], {}, ["x"], ["x", "x"], ["x", 3], ["two\nlines"], [{}])
JUNK = (None, True, False, "", "two\nlines", "0123456789abcdef\n", *NAMES, *NUMBERS, *LISTS)
MAY_BE = {"dataset": (None, *NAMES), "model": (None, *NAMES), "classes": ([], ["x"]), "threshold": (0.5, 1)}
MAY_BE |= {"half_precision": (True, False)}
OF_RAPS = {"penalty": [one for one in NUMBERS if 0 < one < 10**6], "free_ranks": (0, 4, 900)}
UNUSED = {"m": (4, 900), "alpha": (0.5, 0.123456)}  # where nothing is drawn
ALSO = {"each diagnosis": {"n": (1, 4, 900), "per": NAMES}, "trivial": UNUSED, "too few for novelty": UNUSED}


def changed(part: dict, may_be: dict) -> Iterator[tuple[dict, bool]]:
    """A part of a file with every field missing or replaced by junk, and whether the change may be read."""
    yield part | {"note": "hello"}, False
    for name, value in part.items():
        yield {key: other for key, other in part.items() if key != name}, False
        for junk in JUNK:
            if junk != value:
                yield part | {name: junk}, repr(junk) in map(repr, may_be.get(name, ()))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("of", WRITTEN)
def test_a_file_is_read_back_and_refused_where_any_field_is_changed_missing_or_unknown(of):
    """Every field, of the whole and of the first and the last target, with anything else in its place."""
    drawn, may_be = WRITTEN[of], MAY_BE | ALSO.get(of, {})
    written = json.loads(drawn.to_json())
    assert read_calibration(drawn.to_json()) == drawn
    first, *others = written["targets"]
    *before, last = written["targets"]
    documents = [
        *changed(written, may_be),
        *((written | {"targets": [one, *others]}, free) for one, free in changed(first, may_be)),
        *((written | {"targets": [*before, one]}, free) for one, free in changed(last, may_be)),
        (written | {"targets": [first, first, *others]}, False),
        *((written | {"score": one}, free) for one, free in changed(written["score"], OF_RAPS)),
    ]
    for document, may_be_read in documents:
        refusal = pytest.raises(pp.InputError, match="This calibration cannot be used")
        with suppress(pp.InputError) if may_be_read else refusal:
            assert json.loads(read_calibration(json.dumps(document)).to_json()) == document


def test_a_file_of_when_there_was_one_score_is_read_as_that_score():
    drawn = WRITTEN["paper"]
    said = json.loads(drawn.to_json())
    assert said.pop("score")
    assert not said.pop("half_precision")
    assert read_calibration(json.dumps(said)) == drawn


def test_other_texts_are_refused():
    twice, huge = '{"format": 1, "format": 2}', '{"n": 1e999}'
    for text in ("", "[]", "null", "{", "[" * 100_000, twice, huge, " " * 600_000, b"{}", None):
        with pytest.raises(pp.InputError, match="cannot be used"):
            pp.Calibration.from_json(text)


def test_nonprivate_threshold_is_the_conformal_order_statistic():
    scores = np.arange(1, 11) / 10
    assert pp.nonprivate_threshold(scores, 0.1) == 1.0  # ⌈0.9 · 11⌉ = 10
    assert pp.nonprivate_threshold(scores, 0.5) == 0.6  # ⌈0.5 · 11⌉ = 6
    assert pp.nonprivate_threshold(np.arange(1, 10) / 10, 0.3) == 0.7  # exactly 0.7 · 10 = 7, not 8
    assert pp.nonprivate_threshold(scores[:5], 0.1) == 1.0  # too few records


def test_a_generator_is_not_a_seed():
    with pytest.raises(pp.InputError, match=r"numpy\.random\.Generator"):
        pp.simulate(SCORES, pp.plan(1000, 0.1, 1.0), 42)


def test_a_plan_for_another_number_of_records_is_refused():
    with pytest.raises(pp.InputError, match="plan is for 10 records but there are 1000"):
        pp.release_distribution(SCORES, pp.plan(10, 0.1, 1.0))
    with pytest.raises(pp.InputError, match="plan is for 10 records but there are 1000"):
        made_by(None).counts(pp.plan(10, 0.1, 1.0))
    with pytest.raises(pp.InputError, match="plan is for 10 records but there are 1000"):
        pp.simulate(SCORES, pp.plan(10, 0.1, 1.0), np.random.default_rng(0))


@pytest.mark.parametrize("per", ["diagnosis", "site"])
def test_more_bins_than_memory_holds_are_refused_before_anything_is_counted_or_charged(per, tmp_path, monkeypatch):
    names = tuple(f"c{number}" for number in range(1000))
    labels, rows = np.zeros(300, dtype=int), np.eye(1000)[np.zeros(300, dtype=int)]
    records = pp.Records("many", np.zeros(300), names, rows, labels, groups={"site": np.full(300, "c0")})
    whom = {"classes": names} if per == "diagnosis" else {"groups": names}
    planned = pp.plan(300, 0.1, 1.0, per=per, m=10**6, **whom)
    ledger = pp.Ledger(tmp_path / "ledger.sqlite")
    account = ledger.open_account("many", 5)
    table = pa.table(dict(zip(names, rows.T, strict=True)) | {"label": ["c0"] * 300, "site": ["c0"] * 300})
    pq.write_table(table, tmp_path / "many.parquet")
    selection = select(open_source(tmp_path / "many.parquet", group="site"))
    monkeypatch.setattr("ppsets_core.data.counts.BinCounter", None)
    ways = (
        lambda: records.counts(planned),
        lambda: pp.simulate(records, planned, np.random.default_rng(0)),
        lambda: pp.calibrate(records, 0.1, 1.0, per=per, m=10**6, **({} if per == "diagnosis" else whom)),
        lambda: ledger.release(records, planned, account),
        lambda: selection.counts(planned, ledger.cohorts(300)),
        lambda: ledger.release(selection, planned, account),
    )
    for way in ways:
        with pytest.raises(pp.InputError, match=r"1,000 thresholds of 1,000,000 bins are too many.* at most 30,000"):
            way()
    assert ledger.account("many").spent == 0


def test_ranks_are_computed_before_anything_is_charged(tmp_path, monkeypatch):
    records = pp.Records("ward", SCORES, ("a", "b"), labels=np.arange(len(SCORES)) % 2)
    planned, ledger = (
        pp.plan(len(SCORES), 0.1, 1.0, per="diagnosis", classes=("a", "b")),
        pp.Ledger(tmp_path / "l.sqlite"),
    )
    account = ledger.open_account("ward", 5)

    def never(*_):
        raise MemoryError

    monkeypatch.setattr("ppsets_core.method.rules.sharp.class_ranks", never)
    with pytest.raises(MemoryError):
        ledger.release(records, planned, account)
    assert ledger.account("ward").spent == 0
