"""Releases drawn by OpenDP, and simulations, really follow the law that `release_distribution` states."""

import numpy as np
import pytest
from scipy.stats import chisquare

from ppsets_core import calibrate, plan, release_distribution

DRAWS = 1500
CASES = {
    "paper": {"n": 60, "alpha": 0.3, "epsilon": 4.0, "m": 12},
    "paper, most bins empty": {"n": 40, "alpha": 0.3, "epsilon": 5.0, "m": 500},
    "sharp": {"n": 60, "alpha": 0.3, "epsilon": 0.8, "m": 12, "method": "sharp"},
    "sharp, most bins empty": {"n": 40, "alpha": 0.3, "epsilon": 1.5, "m": 500, "method": "sharp"},
}


@pytest.mark.parametrize("simulated", [False, True], ids=["release", "simulation"])
@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_draws_follow_the_stated_law(case, simulated):
    case = dict(case)
    n, alpha, epsilon = case.pop("n"), case.pop("alpha"), case.pop("epsilon")
    scores = np.random.default_rng(5).beta(1, 3, n).round(2)
    chosen = plan(n, alpha, epsilon, **case)
    assert not chosen.is_trivial
    law = release_distribution(scores, chosen)
    rng = np.random.default_rng(11) if simulated else None
    drawn = np.array([calibrate(scores, alpha, epsilon, rng=rng, **case).threshold for _ in range(DRAWS)])
    run = np.searchsorted(law.upper, drawn)
    assert goodness_of_fit(np.bincount(run, minlength=len(law.upper)), law.probability * DRAWS) > 1e-6
    widest = np.argmax(law.probability * (law.bins > 1))
    if law.bins[widest] > 1 and law.probability[widest] * DRAWS > 50:
        edge = np.rint(drawn[run == widest] * chosen.m).astype(int)
        halves = edge > np.rint(law.upper[widest] * chosen.m) - law.bins[widest] // 2
        share = (law.bins[widest] // 2) / law.bins[widest]
        expected = len(edge) * np.array([1 - share, share])
        assert chisquare([np.sum(~halves), np.sum(halves)], expected).pvalue > 1e-6


def goodness_of_fit(observed: np.ndarray, expected: np.ndarray) -> float:
    """Chi-square with runs pooled, in order, until each pool expects at least five draws."""
    pools, total = [], 0.0
    for value in expected:
        pools.append(len(pools) and pools[-1] + (total >= 5))
        total = value if total >= 5 else total + value
    pools = np.array(pools)
    if total < 5:
        pools[pools == pools[-1]] = pools[-1] - 1
    grouped = np.bincount(pools, weights=expected)
    return chisquare(np.bincount(pools, weights=observed), grouped * observed.sum() / grouped.sum()).pvalue


def test_the_fit_notices_a_wrong_law():
    case = CASES["sharp"]
    scores = np.random.default_rng(5).beta(1, 3, case["n"]).round(2)
    drawn = [calibrate(scores, 0.3, 0.8, m=12, method="sharp").threshold for _ in range(DRAWS)]
    other = release_distribution(scores, plan(case["n"], 0.3, 1.0, m=12, method="sharp"))
    run = np.searchsorted(other.upper, drawn)
    assert goodness_of_fit(np.bincount(run, minlength=len(other.upper)), other.probability * DRAWS) < 1e-6


def test_a_simulation_repeats_by_seed_and_a_release_does_not():
    scores = np.random.default_rng(0).random(1000)

    def simulate():
        return calibrate(scores, 0.1, 1.0, rng=np.random.default_rng(9)).threshold

    assert simulate() == simulate()
    np.random.seed(0)  # noqa: NPY002 — the global seed must not reach a release
    releases = set()
    for _ in range(12):
        np.random.seed(0)  # noqa: NPY002
        releases.add(calibrate(scores, 0.1, 1.0).threshold)
    assert len(releases) > 1
