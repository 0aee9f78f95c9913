"""The promise, by enumeration: the coverage of every bag of n+1 scores is at least `lower`, and somewhere close."""

import numpy as np
import pytest

from ppsets_core.method.rules.sharp.bound import loss
from tests.method.rules.enumeration import data_sets, law_of_counts

EPSILONS = (0.3, 0.7, 1.5, 3.0, 6.0, 12.0)
LARGER = [(20, 2), (20, 3), (6, 4), (12, 4), (8, 5), (4, 6), (9, 6)]
SIZES = [(1, 2), (3, 2), (5, 3), (4, 5), *(pytest.param(*one, marks=pytest.mark.statistical) for one in LARGER)]


def covered_ranks(bags: np.ndarray, rank: int, epsilon: float) -> np.ndarray:
    """Σ_j h_j·P(J ≥ j | one score of bin j left out), which is N·P(Y ∈ C(X)), for each bag of counts h."""
    total = np.zeros(len(bags))
    for j in range(bags.shape[1]):
        holding = bags[:, j] > 0
        rest = bags[holding].copy()
        rest[:, j] -= 1
        total[holding] += bags[holding, j] * law_of_counts(rest, rank, epsilon)[:, j:].sum(axis=1)
    return total


@pytest.mark.parametrize(("n", "m"), SIZES)
def test_coverage_of_every_bag_is_at_least_lower(n, m):
    bags = data_sets(n + 1, m)
    gaps = []
    for epsilon in EPSILONS:
        for k in range(1, n + 5):
            proven = min(k, n) + 1 - float(loss(n, n - k, m, epsilon))
            truth = covered_ranks(bags, k, epsilon).min()
            assert truth >= proven, (k, epsilon)
            gaps.append(truth - proven)
    assert min(gaps) <= 0.5


def test_empty_class_gets_the_top_bin_with_the_probability_needed():
    for m in (2, 5, 100):
        for epsilon in (0.5, 2.0, 8.0):
            for k in range(1, 12):
                law = law_of_counts(np.zeros(m, dtype=int), k, epsilon)
                assert law[-1] >= 1 - float(loss(0, -k, m, epsilon))
                assert law[:-1] == pytest.approx(law[0])
