"""Coverage holds for every rule, distribution, n, ε and α, and is what is expected where scores are even."""

import numpy as np
import pytest
from scipy import stats

from ppsets_core import plan, simulate
from ppsets_core.method.rules import RULES
from tests.statistical.designs import pairwise

pytestmark = pytest.mark.statistical


class Atoms:
    """A discrete distribution of scores, with the interface that the tests need of scipy's."""

    def __init__(self, values, weights=None):
        self.values = np.asarray(values, dtype=float)
        self.weights = np.full(len(values), 1 / len(values)) if weights is None else np.asarray(weights)

    def rvs(self, size, random_state):
        return random_state.choice(self.values, size, p=self.weights)

    def cdf(self, x):
        return (self.weights * (self.values <= np.asarray(x)[..., None])).sum(axis=-1)


DISTRIBUTIONS = {
    "uniform": stats.uniform(),
    "beta": stats.beta(0.4, 3),
    "heavily tied": Atoms(np.arange(11) / 10),
    "two atoms": Atoms([0.2, 0.8], [0.85, 0.15]),
    "all equal": Atoms([0.37]),
}


CELLS = pairwise(list(DISTRIBUTIONS), [30, 200, 1000, 5000], [0.2, 1.0, 10.0], [0.05, 0.1, 0.3], list(RULES))


@pytest.mark.parametrize(("distribution", "n", "epsilon", "alpha", "method"), CELLS)
def test_coverage_is_at_least_what_is_promised_and_on_even_scores_what_is_expected(
    distribution, n, epsilon, alpha, method
):
    law, chosen = DISTRIBUTIONS[distribution], plan(n, alpha, epsilon, method=method)
    rng = np.random.default_rng([n, int(100 * alpha), int(10 * epsilon), len(method), len(distribution)])
    repetitions = 300 if n > 1000 else 600
    thresholds = np.array([simulate(law.rvs(n, random_state=rng), chosen, rng).threshold for _ in range(repetitions)])
    coverage = law.cdf(thresholds)
    error = coverage.std() / np.sqrt(repetitions)
    assert coverage.mean() >= 1 - alpha - 4 * error - 1e-12
    assert coverage.mean() >= chosen.coverage_lower - 4 * error - 1e-12
    if distribution == "uniform":
        assert coverage.mean() == pytest.approx(chosen.coverage_expected, abs=4 * error + 2 / n)
