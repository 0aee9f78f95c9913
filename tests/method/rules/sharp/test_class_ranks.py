"""k(·) of the per-diagnosis rule: reference values, exact steps of 0 or 1, and the promise at every count."""

import json
from fractions import Fraction
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from ppsets_core.method.rules.sharp.bound import least_class_rank
from ppsets_core.method.rules.sharp.class_ranks import ClassRanks, class_ranks

class_ranks_module = import_module("ppsets_core.method.rules.sharp.class_ranks")
REFERENCE = json.loads((Path(__file__).parents[3] / "reference" / "sharp.json").read_text())


@pytest.mark.parametrize("row", REFERENCE["class_ranks"])
def test_ranks_match_the_reference(row):
    """Its ε is the release's, half of which each class is drawn with."""
    table = class_ranks(row["n"], row["alpha"], row["epsilon"] / 2, row["m"])
    assert table.ranks().tolist() == row["ranks"]


def check(n: int, alpha: float, epsilon: float, m: int, every: int) -> None:
    """Steps are 0 or 1 at every count; every so often the rank is the least one, found without the table."""
    table = class_ranks(n, alpha, epsilon, m)
    ranks = table.ranks()
    assert set(np.diff(ranks).tolist()) <= {0, 1}
    for count in {*range(0, n + 1, every), n}:
        assert ranks[count] == least_class_rank(count, alpha, epsilon, m), (n, alpha, epsilon, m, count)


@pytest.mark.parametrize("epsilon", [0.05, 0.3, 1.0, 4.0, 20.0])
@pytest.mark.parametrize(
    "alpha", [0.1, *(pytest.param(one, marks=pytest.mark.statistical) for one in (0.01, 0.3, 0.5))]
)
def test_steps_are_0_or_1_and_ranks_are_the_least(alpha, epsilon):
    for m in (2, 12, 300):
        check(250, alpha, epsilon, m, 29)


@pytest.mark.statistical
@pytest.mark.parametrize("epsilon", [0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0])
def test_steps_are_0_or_1_up_to_5000(epsilon):
    for alpha in (0.01, 0.05, 0.1, 0.2, 0.37, 0.5):
        for m in (2, 10, 47, 1000, 10**5):
            check(5000, alpha, epsilon, m, 499)


@pytest.mark.statistical
def test_every_rank_found_alone_steps_by_0_or_1_too():
    """The theorem that the table leans on, where no table enforces it."""
    for alpha, epsilon, m in [(0.1, 0.3, 30), (0.2, 0.05, 10), (0.05, 2.0, 200), (0.5, 0.1, 3)]:
        ranks = np.array([least_class_rank(j, alpha, epsilon, m) for j in range(700)])
        assert set(np.diff(ranks).tolist()) <= {0, 1}
        assert (ranks == class_ranks(699, alpha, epsilon, m).ranks()).all()


@pytest.mark.parametrize(
    ("n", "alpha", "epsilon", "m"),
    [(10**6, 0.1, 0.05, 300), (10**6, 0.5, 0.005, 10), (10**6, 0.001, 0.5, 10**4), (10**6, 0.1, 50.0, 10**6)],
)
def test_a_million_records(n, alpha, epsilon, m):
    table = class_ranks(n, alpha, epsilon, m)
    for count in (0, 1, 17, 999, 12_345, 100_000, 999_999, n):
        assert table.rank(count) == least_class_rank(count, alpha, epsilon, m)
    edge = int(table.first[-1])  # where the table ends and the closed form goes on
    around = range(max(edge - 300, 0), min(edge + 300, n) + 1)
    assert set(np.diff([table.rank(count) for count in around]).tolist()) <= {0, 1}


def test_steps_hold_whatever_rounding_did_to_the_table():
    """Any table that grows as fast as its Q gives steps of 0 or 1, also where the closed form takes over."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        widths = rng.integers(1, 4, 12)
        spare, first = (np.append(0, np.cumsum(steps)) for steps in (widths, widths + rng.integers(0, 4, 12)))
        table = ClassRanks(120, 0.3, spare - 5, first, Fraction(float(rng.uniform(0, 12))))
        assert set(np.diff(table.ranks()).tolist()) <= {0, 1}


def test_a_table_cut_short_keeps_steps_and_promise_with_a_few_ranks_more(monkeypatch):
    for alpha, epsilon, m in [(0.1, 0.3, 30), (0.2, 0.05, 10), (0.05, 2.0, 200)]:
        exact = class_ranks(400, alpha, epsilon, m).ranks()
        monkeypatch.setattr(class_ranks_module, "MOST_ENTRIES", 8)
        coarse = class_ranks.__wrapped__(400, alpha, epsilon, m)
        monkeypatch.undo()
        assert len(coarse.first) == 8
        assert set(np.diff(coarse.ranks()).tolist()) <= {0, 1}
        assert (coarse.ranks() >= exact).all()
        assert (coarse.ranks() - exact).max() <= 40


@pytest.mark.parametrize(
    ("n", "epsilon"),
    [(10**5, 1e-6), *(pytest.param(*one, marks=pytest.mark.statistical) for one in ((10**7, 1e-5), (10**10, 1e-8)))],
)
def test_the_work_is_bounded_however_small_epsilon_is(n, epsilon, monkeypatch):
    found, calls = class_ranks_module._least_counts, []
    monkeypatch.setattr(class_ranks_module, "_least_counts", lambda *a: calls.append(a[-1].size) or found(*a))
    table = class_ranks.__wrapped__(n, 0.1, epsilon, 10)
    assert sum(calls) <= class_ranks_module.MOST_ENTRIES
    for count in (0, 1, n // 3, n):
        assert 0 <= table.rank(count) - least_class_rank(count, 0.1, epsilon, 10) <= 1e-4 * table.rank(count)


def test_counts_outside_the_table_are_refused():
    with pytest.raises(ValueError, match="between 0 and 10"):
        class_ranks(10, 0.1, 1.0, 5).rank(11)
