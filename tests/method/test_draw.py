"""Releases drawn by OpenDP, and simulations, really follow the law that `release_distribution` states."""

import numpy as np
import pytest

from ppsets_core import calibrate, plan, release_distribution, simulate
from ppsets_core.experiments.audit import chi_square

DRAWS = 1500
CASES = {
    "paper": {"n": 60, "alpha": 0.3, "epsilon": 4.0, "m": 12, "method": "paper"},
    "paper, most bins empty": {"n": 40, "alpha": 0.3, "epsilon": 5.0, "m": 500, "method": "paper"},
    "sharp": {"n": 60, "alpha": 0.3, "epsilon": 0.8, "m": 12, "method": "sharp"},
    "sharp, most bins empty": {"n": 40, "alpha": 0.3, "epsilon": 1.5, "m": 500, "method": "sharp"},
}


@pytest.mark.statistical
@pytest.mark.parametrize("simulated", [False, True], ids=["release", "simulation"])
@pytest.mark.parametrize("case", [pytest.param(case, id=name) for name, case in CASES.items()])
def test_draws_follow_the_stated_law(case, simulated):
    case = dict(case)
    n, alpha, epsilon = case.pop("n"), case.pop("alpha"), case.pop("epsilon")
    scores = np.random.default_rng(5).beta(1, 3, n).round(2)
    chosen = plan(n, alpha, epsilon, **case)
    assert not chosen.is_trivial
    law = release_distribution(scores, chosen)
    rng = np.random.default_rng(11)

    def draw() -> float:
        made = simulate(scores, chosen, rng) if simulated else calibrate(scores, alpha, epsilon, **case)
        return made.threshold

    drawn = np.array([draw() for _ in range(DRAWS)])
    run = np.searchsorted(law.upper, drawn)
    assert fit(np.bincount(run, minlength=len(law.upper)), law.probability) > 1e-6
    widest = np.argmax(law.probability * (law.bins > 1))
    if law.bins[widest] > 1 and law.probability[widest] * DRAWS > 50:
        edge = np.rint(drawn[run == widest] * chosen.m).astype(int)
        halves = edge > np.rint(law.upper[widest] * chosen.m) - law.bins[widest] // 2
        share = (law.bins[widest] // 2) / law.bins[widest]
        assert fit(np.array([np.sum(~halves), np.sum(halves)]), np.array([1 - share, share])) > 1e-6


def fit(observed: np.ndarray, probability: np.ndarray) -> float:
    """The p-value of as many draws or more extreme ones, if that is their law."""
    return chi_square(observed, probability)[2]


def test_a_simulation_repeats_by_seed_and_a_release_does_not():
    scores = np.random.default_rng(0).random(1000)

    first, second = (simulate(scores, plan(1000, 0.1, 1.0), np.random.default_rng(9)) for _ in range(2))
    assert first == second
    np.random.seed(0)  # noqa: NPY002 — the global seed must not reach a release
    releases = set()
    for _ in range(12):
        np.random.seed(0)  # noqa: NPY002
        releases.add(calibrate(scores, 0.1, 1.0).threshold)
    assert len(releases) > 1
