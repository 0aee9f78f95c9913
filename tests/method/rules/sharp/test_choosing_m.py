"""m* of a class, expected coverage, and the over-coverage on uniform scores."""

import math
from fractions import Fraction

import numpy as np
import pytest

from ppsets_core import plan
from ppsets_core.method.rules.mechanism import expected_output
from ppsets_core.method.rules.paper import PaperQuantile
from ppsets_core.method.rules.sharp import RankQuantile, Sharp
from ppsets_core.method.rules.sharp.bound import (
    RHO,
    least_ranks,
)
from tests.method.rules.enumeration import law_of_counts


def shifted_counts(n: int, m: int) -> list[np.ndarray]:
    """The 16 shifted sets of evenly spread scores, counted bin by bin in exact integers."""
    sets = []
    for shift in range(-15, 17, 2):
        bins = [min(m, max(1, -(-(16 * m * (2 * i - 1) + n * shift) // (32 * n)))) for i in range(1, n + 1)]
        sets.append(np.bincount(bins, minlength=m + 1)[1:])
    return sets


def test_expected_output_matches_a_sum_over_every_bin():
    rng = np.random.default_rng(0)
    for _ in range(150):
        n, m, epsilon = int(10 ** rng.uniform(0, 3)), int(2 + 10 ** rng.uniform(0, 3.3)), 10 ** rng.uniform(-2, 2)
        k, edges = int(rng.integers(1, n + 2 + int(20 / epsilon))), np.arange(1, m + 1) / m
        sharp = np.mean([law_of_counts(counts, k, epsilon) @ edges for counts in shifted_counts(n, m)])
        assert expected_output(RankQuantile(k, epsilon, RHO), n, m) == pytest.approx(sharp, abs=1e-12)
        level, means = rng.uniform(0.5, 0.999), []
        for counts in shifted_counts(n, m):
            upto = np.cumsum(counts)
            off = np.maximum((1 - level) / level * (upto - counts), n - upto)
            weights = np.exp(-epsilon / 2 * (off - off.min()))
            means.append(weights @ edges / weights.sum())
        assert expected_output(PaperQuantile(level, epsilon), n, m) == pytest.approx(np.mean(means), abs=1e-12)


def test_expected_output_without_records():
    """An empty class: the top bin, or any lower edge alike."""
    law = law_of_counts(np.zeros(7, dtype=int), 3, 1.0)
    assert expected_output(RankQuantile(3, 1.0, RHO), 0, 7) == pytest.approx(law @ np.arange(1, 8) / 7, abs=1e-14)


@pytest.mark.parametrize("epsilon", [0.04, 0.6, 2.0, 14.0, 120.0])
@pytest.mark.parametrize(
    "count", [0, 12, *(pytest.param(n, marks=pytest.mark.statistical) for n in (1, 60, 500, 4000))]
)
def test_chosen_m_of_a_class_is_the_best_of_the_whole_grid(count, epsilon):
    for alpha in (0.05, 0.3):
        ranks = least_ranks(count, alpha, epsilon / 2, Sharp.grid).tolist()
        whole = {m: expected_output(RankQuantile(k, epsilon, RHO, Fraction(1, 2)), count, m)
                 for m, k in zip(Sharp.grid, ranks, strict=True)}  # fmt: skip
        assert Sharp().group_m(2 * count, 2, alpha, epsilon) == min(whole, key=lambda m: (whole[m], m))


def test_a_class_plan_is_never_trivial():
    few = plan(30, 0.1, 0.2, per="diagnosis", classes=7)
    assert few.mechanism_for(30 // 7).rank > 30 // 7
    assert few.coverage_expected < 1
    assert not few.is_trivial


def over_coverage(n: int, epsilon: float, repetitions: int, alpha: float = 0.1) -> tuple[float, float]:
    """Mean and standard error of E[ŝ | sample] − (1−α) over random uniform samples; the law of ŝ is summed exactly.

    The k-th smallest score, whose mean k/(n+1) is known, is the control variate.
    """
    rng, best = np.random.default_rng(7), plan(n, alpha, epsilon)
    edges, outputs, controls = np.arange(1, best.m + 1) / best.m, [], []
    for _ in range(repetitions):
        sample = np.sort(rng.random(n))
        counts = np.bincount(np.ceil(sample * best.m).astype(int), minlength=best.m + 1)[1:]
        outputs.append(law_of_counts(counts, best.rank, epsilon) @ edges)
        controls.append(sample[best.rank - 1] - best.rank / (n + 1))
    outputs, controls = np.array(outputs), np.array(controls)
    slope = np.cov(outputs, controls)[0, 1] / controls.var(ddof=1)
    rest = outputs - slope * controls
    return rest.mean() - (1 - alpha), rest.std(ddof=2) / math.sqrt(repetitions)


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("n", "epsilon", "most", "repetitions"),
    [(1000, 1.0, 0.0080, 1000), (1000, 0.2, 0.0255, 1500), (100, 1.0, 0.0425, 6000), (1000, 10.0, 0.0015, 600)],
)
def test_over_coverage_on_uniform_scores(n, epsilon, most, repetitions):
    mean, error = over_coverage(n, epsilon, repetitions)
    assert error < most / 100
    assert 0 < mean <= most - 2 * error
