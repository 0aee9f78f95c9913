"""The promise within each diagnosis, however few records it has: none, one, half of all of them.

Given a diagnosis's scores the law of its threshold is exact, so only the scores are drawn at random.
"""

from dataclasses import replace

import numpy as np
import pytest

from ppsets_core import plan
from ppsets_core.method.bins import runs_of
from ppsets_core.method.plan import DIAGNOSIS
from ppsets_core.method.rules.mechanism import run_probabilities
from tests.statistical.designs import pairwise

N, CLASSES, DATA_SETS = 300, 3, 300
SCORES = {
    "uniform": lambda rng, size: rng.random(size),
    "mostly low": lambda rng, size: rng.beta(0.5, 4, size),
    "mostly high": lambda rng, size: rng.beta(4, 0.5, size),
    "tied": lambda rng, size: rng.beta(1, 3, size).round(1),
    "all the same": lambda rng, size: np.full(size, 0.37),
}
CELLS = pairwise(list(SCORES), [0, 1, 5, N // 3, N // 2, N], [0.05, 0.1, 0.3], [0.2, 1.0, 2.0, 8.0])


def covered(chosen, scores: np.ndarray, new: np.ndarray) -> float:
    """P(a new score of the diagnosis ≤ ŝ), over the draw of ŝ and the new scores."""
    runs = runs_of(scores, chosen.m)
    law = run_probabilities(chosen.mechanism_for(len(scores)), runs, len(scores))
    edges = np.repeat(law / runs.bins, runs.bins)
    reached = np.searchsorted(np.sort(new), np.arange(1, chosen.m + 1) / chosen.m, side="right") / len(new)
    return float(edges @ reached)


@pytest.mark.statistical
@pytest.mark.parametrize(("scores", "count", "alpha", "epsilon"), CELLS)
def test_every_diagnosis_is_covered_as_often_as_asked(scores, count, alpha, epsilon):
    draw = SCORES[scores]
    chosen = plan(N, alpha, epsilon, per=DIAGNOSIS, classes=CLASSES)
    rng = np.random.default_rng(11)
    found = np.array([covered(chosen, draw(rng, count), draw(rng, 500)) for _ in range(DATA_SETS)])
    assert found.mean() >= 1 - alpha - 4 * found.std(ddof=1) / np.sqrt(DATA_SETS) - 1e-12


def test_a_smaller_rank_would_be_noticed():
    """If the rule aimed at the middle, this measure would fall short of the promise."""
    chosen = plan(N, 0.1, 8.0, per=DIAGNOSIS, classes=CLASSES)
    halfway = replace(chosen.mechanism_for(100), rank=50)
    runs = runs_of(np.random.default_rng(11).random(100), chosen.m)
    assert run_probabilities(halfway, runs, 100) @ (runs.last / chosen.m) < 0.6
