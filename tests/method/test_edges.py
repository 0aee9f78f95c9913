"""A score at the edge of a bin is in the set, whichever arithmetic wrote it (docs/method.md#at-the-edges)."""

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest

from ppsets_core import (
    InputError,
    Records,
    calibrate,
    conformity_scores,
    evaluate,
    prediction_sets,
    read_scores,
    records,
)
from ppsets_core.data.counts import select
from ppsets_core.data.source import open_source
from ppsets_core.diagnose.novelty import NoveltyThreshold
from ppsets_core.diagnose.set_table import sets_of
from ppsets_core.explore.expected_sets import expected_sets, nonprivate_sets
from ppsets_core.explore.labelled import Labelled
from ppsets_core.method.bins import HALF_TOLERANCE, TOLERANCE, bin_index, limit
from ppsets_core.method.calibration import Calibration, least_probability
from ppsets_core.method.plan import plan
from ppsets_core.method.rules import RULES
from ppsets_core.method.simulate import Setting, random_splits
from ppsets_core.wording import released
from tests.data.data_sets import npz, parquet

TYPES = {"float16": np.float16, "float32": np.float32, "float64": np.float64}
GRIDS = sorted({m for rule in RULES.values() for m in rule.grid if m <= 10_000})
DECIMALS = np.arange(10_001)  # in ten-thousandths


def written(k: np.ndarray) -> np.ndarray:
    """k ten-thousandths, as their text is parsed."""
    return np.array([float(f"{number / 10_000:.4f}") for number in k])


def every_score(p: np.ndarray) -> dict[str, tuple[np.ndarray, bool]]:
    """The score of each probability as calibrations may have it, in float64, and whether float16 was used."""
    found = {"text": (written(10_000 - DECIMALS), False)}
    for name, kind in TYPES.items():
        half, stored = name == "float16", p.astype(kind)
        found[f"{name} probability"] = 1 - stored.astype(np.float64), half
        found[f"{name} arithmetic"] = (1 - stored).astype(np.float64), half
        found[f"{name} score"] = found["text"][0].astype(kind).astype(np.float64), half
    return found


def assert_inside_at_the_edge_of_the_own_bin(bins) -> None:
    """In the set of ŝ = the edge of its bin, and so of every ŝ that covers it; for new patients of any type."""
    p = written(DECIMALS)
    new = {name: p.astype(kind).astype(np.float64) for name, kind in TYPES.items()}
    least = {False: np.minimum(new["float32"], new["float64"]), True: np.min(list(new.values()), axis=0)}
    for how, (scores, half) in every_score(p).items():
        for m in bins:
            edges = bin_index(scores, m) / m
            for either in {half, True}:
                assert (least[either] >= least_probability(edges, either)).all(), (how, m, either)


def test_every_probability_of_four_decimals_in_every_type_with_every_m_that_is_ever_chosen():
    assert_inside_at_the_edge_of_the_own_bin(GRIDS)


@pytest.mark.statistical
def test_every_probability_of_four_decimals_in_every_type_with_every_m():
    assert_inside_at_the_edge_of_the_own_bin(range(2, 10_001))


@pytest.mark.parametrize(("half", "t"), [(False, TOLERANCE), (True, HALF_TOLERANCE)])
def test_sets_only_grow_and_by_no_more_than_the_tolerance(half, t):
    p = np.random.default_rng(0).random(10_000)
    p[:5000] = 0.7 + np.linspace(-2 * t, 2 * t, 5000)
    rows = np.column_stack([p, 1 - p])
    exact, ours = 1 - rows <= 0.3, prediction_sets(rows, 0.3, half_precision=half)
    assert (ours >= exact).all()
    assert (ours <= (1 - rows <= 0.3 + 1.001 * t)).all()
    assert (ours > exact).any()


def sample(n: int, shares: dict[float, float]) -> np.ndarray:
    return np.repeat(list(shares), np.round(n * np.array(list(shares.values()))).astype(int))


def file_of(what: str, kind: str, p: np.ndarray) -> tuple[bytes, str]:
    """Scores or probabilities as text or as numbers of a type, and the name of the file."""
    columns = {"score": 1 - p} if what == "score" else {"a": p, "b": 1 - p}
    labels = {} if what == "score" else {"label": ["a"] * len(p)}
    if kind == "text":
        return pd.DataFrame(columns | labels).to_csv(index=False, float_format="%.4f").encode(), "s.csv"
    typed = {name: written(np.round(10_000 * values)).astype(TYPES[kind]) for name, values in columns.items()}
    if what == "npz":
        return npz(probabilities=np.column_stack(list(typed.values())), classes=["a", "b"], **labels), "s.npz"
    return parquet(typed | labels), "s.parquet"


FILES = [*product(("score", "probabilities"), ("text", *TYPES)), *product(["npz"], TYPES)]


@pytest.mark.parametrize("edge", [0.9, 0.7, 0.5999], ids=str)
def test_coverage_holds_between_any_two_types_of_file(edge, tmp_path):
    """From a CSV to Parquet of float32 it was 0.3. 0.5999 is above 0.6 in float16, so that its score is below 0.4."""
    shares = {1.0: 0.30, edge: 0.65, 0.3: 0.05}

    def read(how: tuple[str, str], n: int, **options) -> Records:
        data, name = file_of(*how, sample(n, shares))
        (tmp_path / name).write_bytes(data)
        return read_scores(tmp_path / name, **options)

    tables = [how for how in FILES if how[0] != "score"]
    new = {how: read(how, 200, classes=("a", "b"), labels="optional") for how in tables}
    for how in FILES:
        records = read(how, 1000, score="lac")
        drawn = calibrate(records, 0.1, 1.0, m=10)
        assert drawn.half_precision == records.half_precision == ("float16" in how)
        assert Calibration.from_json(drawn.to_json()) == drawn
        for name, patients in new.items():
            found = sets_of(patients, drawn)
            assert found.covered.mean() >= 0.95, (how, name)
            assert (found.members == (found.probabilities >= found.cutoffs)).all()


def test_library_arrays_say_their_type_themselves():
    p = sample(1000, {1.0: 0.30, 0.5999: 0.65, 0.3: 0.05})
    rows = np.column_stack([p, 1 - p])
    scores = conformity_scores(rows.astype(np.float16), np.zeros(1000, dtype=int))
    drawn = calibrate(scores, 0.1, 1.0, m=10)
    assert drawn.half_precision
    assert prediction_sets(rows, drawn)[:, 0].mean() == 0.95
    below = np.array([[0.89990234375, 0.10009765625]])
    assert not prediction_sets(below, 0.1)[0, 0]
    assert prediction_sets(below.astype(np.float16), 0.1)[0, 0]
    assert prediction_sets(below.astype(">f2"), 0.1)[0, 0]


@pytest.mark.parametrize("score", ["aps", "raps"])
def test_scores_that_depend_on_the_order_refuse_float16_on_one_side(score):
    rows = np.random.default_rng(0).dirichlet(np.ones(16), 400)
    labels = rows.argmax(axis=1)
    drawn = {
        kind: calibrate(records(rows.astype(kind), labels, score=score), 0.1, 5.0, m=10) for kind in TYPES.values()
    }
    edges = limit(bin_index(conformity_scores(rows, labels, score), 10) / 10)
    assert (conformity_scores(rows.astype(np.float32), labels, score) <= edges).all()
    for one, calibration in drawn.items():
        for other in TYPES.values():
            if (one == np.float16) == (other == np.float16):
                assert prediction_sets(rows.astype(other), calibration).any()
            else:
                with pytest.raises(InputError, match="which float16 can change"):
                    prediction_sets(rows.astype(other), calibration)


def test_everything_that_applies_a_threshold_counts_the_same(tmp_path):
    """ŝ is 0.25, and scores of 0.2500005 are covered, too."""
    p = sample(2000, {0.75: 0.85, 0.7499995: 0.15})
    rows, labels = np.column_stack([p, 1 - p]), np.zeros(2000, dtype=int)
    alike, chosen, setting = Labelled(rows, labels), plan(1000, 0.2, 50.0, m=4), Setting(0.2, 50.0, m=4)
    drawn = calibrate(1 - p[::2], 0.2, 50.0, m=4)
    assert drawn.threshold == 0.25
    text = "\n".join(["label,a,b", *(f"a,{one:.7f},{1 - one:.7f}" for one in p)])
    (tmp_path / "p.csv").write_text(text)
    assert evaluate(rows, labels, drawn).coverage == evaluate(rows, labels, 0.25).coverage == 1
    for found in (read_scores(text.encode(), "p.csv"), select(open_source(tmp_path / "p.csv"))):
        assert found.coverage(drawn).by_class[:, 0].sum() == 2000
    rng = np.random.default_rng(0)
    for per in (None, "diagnosis"):
        (found,) = random_splits(rows, labels, 1000, [replace(setting, per=per)], 5, rng)
        assert found.private.coverage.tolist() == found.nonprivate.coverage.tolist() == [1] * 5
        assert (found.private.size_counts[:, 0] == 0).all()
    assert expected_sets(alike, chosen, rng, 5).coverage == pytest.approx(1)
    assert nonprivate_sets(alike, 1000, 0.2, rng, repetitions=5).coverage == pytest.approx(1)


def test_novelty_at_the_threshold_is_familiar_in_any_arithmetic():
    """At most 5% may be marked: what is at the threshold but for rounding is not."""
    threshold = NoveltyThreshold(0.3, "the training's", 0.05, 0.1)
    seen = np.array([0.3, 1 - 0.7, np.float32(0.3), 0.3001, 0.302])
    assert threshold.unlike(seen).tolist() == [False, False, False, True, True]
    assert threshold.unlike(seen, True).tolist() == [False, False, False, False, True]


@pytest.mark.parametrize("half", [False, True])
def test_the_cutoff_as_printed_does_not_contradict_the_sets(half):
    p = sample(1000, {1.0: 0.30, 0.9: 0.65, 0.4: 0.05})
    drawn = calibrate(p := (1 - p).astype(np.float16 if half else np.float64), 0.1, 1.0, m=10)
    near = np.linspace(drawn.cutoff, 1 - drawn.threshold, 50)
    assert prediction_sets(np.column_stack([near, 1 - near]), drawn)[:, 0].all()
    printed = float(released(drawn).rstrip(".").split("≥ ")[1])
    assert all(float(f"{one:.4g}") >= printed for one in near)
