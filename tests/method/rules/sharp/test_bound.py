"""Λ, `lower` and the ranks: reference values, a plain transcription, ties, extremes, and what is said of them."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from ppsets_core.method.rules.sharp.bound import (
    least_class_rank,
    least_rank,
    least_ranks,
    loss,
    lower,
    path_minima,
    rates,
)
from tests.method.rules.enumeration import law_of_counts
from tests.method.rules.sharp.plain_loss import plain_loss

REFERENCE = json.loads((Path(__file__).parents[3] / "reference" / "sharp.json").read_text())


@pytest.mark.parametrize("row", REFERENCE["sharp_rank"])
def test_ranks_and_lower_match_the_reference(row):
    n, m, epsilon, rank = row["n"], row["m"], row["epsilon"], row["rank"]
    assert least_rank(n, row["alpha"], epsilon, m) == rank
    if rank is not None:
        assert lower(n, rank, m, epsilon) == pytest.approx(row["lower"], abs=1e-9)
        assert lower(n, rank, m, epsilon) <= row["lower"]
        path = path_minima(rates(epsilon)[1])
        assert path[min(n - rank, len(path) - 1)] == pytest.approx(row["path_minimum"], rel=1e-12)


@pytest.mark.parametrize("row", REFERENCE["sharp_pmf"])
def test_law_matches_the_reference(row):
    law = law_of_counts(np.array(row["bin_counts"]), row["rank"], row["epsilon"])
    assert law == pytest.approx(row["probabilities"], rel=1e-12)


def test_search_over_b_is_global():
    """A grid over B alone gave 50."""
    assert least_class_rank(24, 0.2, 0.2, 100) == 51


CASES = [
    (1, 1, 60_000, 7.27), (2, 2, 2792, 3.25), (3, 3, 20, 0.238), (4, 1, 3793, 4.7), (7, 2, 223, 1.0), (9, 9, 20, 0.02),
    (18, 3, 4574, 2.42), (21, 12, 94_810, 0.134), (45, 43, 49_194, 0.229), (62, 56, 144, 0.064), (122, 97, 6521, 0.089),
    (2, 50, 117, 0.0616), (13, 55, 756, 0.177), (22, 27, 544, 0.05), (30, 31, 5, 2.0), (0, 3, 8, 2.0), (40, 35, 2, 0.5),
    (200, 190, 1000, 12.0), (300, 280, 10**6, 1.0), (50, 40, 3, 20.0), (169, 43, 4974, 0.143), (100, 80, 2, 0.01),
]  # fmt: skip


SLOW = [pytest.param(*case, marks=pytest.mark.statistical) for case in CASES if case[0] >= 50]


@pytest.mark.parametrize(("n", "k", "m", "epsilon"), [*(case for case in CASES if case[0] < 50), *SLOW])
def test_loss_matches_a_plain_transcription(n, k, m, epsilon):
    plain = plain_loss(n, k, m, epsilon)
    assert -1e-12 <= float(loss(n, n - k, m, epsilon)) - plain <= 1e-8 * (1 + plain)


@pytest.mark.statistical
def test_loss_matches_a_plain_transcription_at_random():
    rng = np.random.default_rng(1)
    for _ in range(150):
        n = int(rng.integers(1, 10 ** rng.uniform(0.5, 2.5)))
        k = int(rng.integers(1, n + 1)) if rng.random() < 0.7 else int(n + rng.integers(1, 20))
        m, epsilon = int(np.round(2 + 10 ** rng.uniform(-1, 5))), 10 ** rng.uniform(-1.7, 1.7)
        plain = plain_loss(n, k, m, epsilon)
        assert -1e-12 <= float(loss(n, n - k, m, epsilon)) - plain <= 1e-8 * (1 + plain), (n, k, m, epsilon)


def old_bound(n: int, k: int, m: int, epsilon: float) -> float:
    """(k − D(k))/N: the union bound."""
    x = np.arange(1, k + 1)
    return (k - np.minimum(1, (m - 1) * np.exp(-rates(epsilon)[0] * x)).sum()) / (n + 1)


@pytest.mark.parametrize("epsilon", [0.05, 0.3, 1.0, 3.0, 12.0])
@pytest.mark.parametrize("m", [2, 3, 10, 300, 10**5])
@pytest.mark.parametrize("n", [1, 2, 7, 30, 200])
def test_lower_does_not_fall_with_k_and_is_never_below_the_union_bound(n, m, epsilon):
    k = np.arange(1, n + 40)
    lowers = (np.minimum(k, n) + 1 - loss(n, n - k, m, epsilon)) / (n + 1)
    assert (np.diff(lowers) >= -1e-8).all()
    assert (lowers[:n] >= [old_bound(n, int(rank), m, epsilon) - 1e-8 for rank in k[:n]]).all()


def test_fewer_bins_never_lose_more():
    m = np.array([2, 3, 5, 10, 30, 100, 1000, 10**4, 10**6])
    for n, epsilon in [(30, 0.3), (100, 1.0), (1000, 5.0), (40, 0.01)]:
        for k in (n // 2, n - 2, n, n + 3):
            assert (np.diff(loss(n, n - k, m, epsilon)) >= -1e-8).all()


@pytest.mark.statistical
@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.3, 0.5])
def test_least_rank_is_least_and_many_at_once_agree_with_one(alpha):
    m = np.array([2, 10, 77, 1000, 10**6])
    for n in (1, 8, 9, 50, 99, 999):
        for epsilon in (0.1, 1.0, 10.0, 100.0):
            for k, bins in zip(least_ranks(n, alpha, epsilon, m), m, strict=True):
                assert least_class_rank(n, alpha, epsilon, bins) == k
                assert least_rank(n, alpha, epsilon, bins) == (k if k <= n else None)
                assert lower(n, k, bins, epsilon) >= 1 - alpha - 1e-15
                assert k == 1 or lower(n, k - 1, bins, epsilon) < 1 - alpha


def test_ties_are_exact():
    """Λ = 0 or 1 exactly and α(n+1) whole: neither rounding nor α's binary digits cost a rank."""
    for n in (9, 19, 99, 999, 99_999):
        assert least_rank(n, 0.1, 0.02, 2) == 0.9 * (n + 1) - 1 or n < 999
        assert least_rank(n, 0.1, 100.0, 1000) == round(0.9 * (n + 1))
    assert least_rank(999, 0.1, 0.02, 2) == 899


@pytest.mark.parametrize("epsilon", [1e-12, 1e-6, 1e-3, 150.0, 1e3, 1e6, 1e12])
def test_extremes_of_epsilon_are_finite(epsilon):
    for n in (1, 50, 10**6, 10**11):
        for m in (2, 10**6):
            rank = least_class_rank(n, 0.1, epsilon, m)
            assert rank >= math.floor(0.9 * (n + 1)) - 1
            assert 0.9 - 1e-9 - 1e-17 / epsilon <= lower(n, rank, m, epsilon) <= 1
