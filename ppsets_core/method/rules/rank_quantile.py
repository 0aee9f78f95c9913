"""The sharp rules' mechanism: a target rank, with ranks overshot cheaper than ranks missing by a factor ρ."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ppsets_core.method.bins import Runs
from ppsets_core.method.rules.mechanism import scale_for

_ONE = Fraction(1)


@dataclass(frozen=True)
class RankQuantile:
    """P(ŝ = e_j) ∝ exp(ε'·u_j), u_j = −max(ρ·(L_j + 1 − k), k − K_j, 0), ε' = ε/(1 + ρ), k the rank.

    The top bin misses nothing: ŝ = 1 keeps every label, which matters where k > n. `share`: how much of ε this draw may
    cost, where others are made beside it. See docs/method.md#the-sharp-utility.
    """

    rank: int
    epsilon: float
    rho: Fraction
    share: Fraction = _ONE

    @property
    def decay(self) -> tuple[float, float]:
        missing = self.epsilon * float(self.share / (1 + self.rho))
        return missing, missing * float(self.rho)

    def target(self, n: int) -> float:
        return self.rank

    def log_weight(self, below: np.ndarray, upto: np.ndarray, n: int) -> np.ndarray:
        missing, overshot = self.decay
        return -np.maximum(np.maximum(overshot * (below + 1 - self.rank), missing * (self.rank - upto)), 0)

    def top_log_weight(self, below: np.ndarray, n: int) -> np.ndarray:
        return -self.decay[1] * np.maximum(below + 1 - self.rank, 0)

    def exact_scores(self, runs: Runs, n: int) -> tuple[np.ndarray, float]:
        """d·u_j, d the denominator of ρ: a record moving up changes each by −d … +ρd, moving down by −ρd … +d."""
        missing = np.where(runs.is_top, 0, self.rho.denominator * (self.rank - runs.upto))
        utilities = -np.maximum(np.maximum(self.rho.numerator * (runs.below + 1 - self.rank), missing), 0)
        return utilities, scale_for(self.epsilon, self.rho.denominator + self.rho.numerator, self.share)

    def least_output(self, n: int, m: int) -> float:
        """Close for many bins. Up to k = n: E[ŝ] for endlessly many bins less a bin width. Above: bin j < m weighs
        e^{−ε'(k − nj/m)} up to a factor e^{±ε'g}, the top bin 1."""
        missing, overshot = self.decay
        if self.rank <= n:
            above, below = _decayed(overshot, n - self.rank), _decayed(missing, self.rank)
            lean = above[1] - above[0] / 2 - below[1] + below[0] / 2
            return (self.rank - 0.5 + lean / (above[0] + below[0] + n / m)) / n - 1 / m
        slack = missing * (0.5 + n / (2 * m))
        if slack > 50:
            return 0.0
        mass, moment = (math.exp(-missing * (self.rank - n)) * part for part in _decayed(missing * n / m, m - 1))
        return 1 - 1e-12 - math.exp(slack) * moment / m / (1 + math.exp(-slack) * mass)


def _decayed(rate: float, count: float) -> tuple[float, float]:
    """Σ e^{−rate·x} and Σ x·e^{−rate·x} over x = 1…count."""
    if rate * count < 1e-3:
        return count, count * (count + 1) / 2
    ratio, gap, end = math.exp(-rate), -math.expm1(-rate), math.exp(-rate * count)
    mass = ratio * (1 - end) / gap
    return mass, mass / gap - count * ratio * end / gap
