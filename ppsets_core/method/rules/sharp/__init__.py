"""The sharp rule, ours: the paper's mechanism and ε, with a rank from the worst case itself instead of a union bound.

See docs/method.md#the-sharp-rule.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from ppsets_core.method.bins import Runs
from ppsets_core.method.rules.mechanism import Mechanism, expected_output, least_of, scale_for
from ppsets_core.method.rules.rule import Aim, no_gamma
from ppsets_core.method.rules.sharp.bound import RHO, least_ranks, lower, smallest_epsilon, smallest_n
from ppsets_core.method.rules.sharp.class_ranks import class_ranks

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


_HALF = Fraction(1, 2)  # one record may change two diagnoses


class Sharp:
    """Aims at the least rank k with lower(n, k) ≥ 1 − α."""

    name = "sharp"
    label = "sharp rule"
    sentence = "Same guarantee, smaller sets."
    grid = tuple(sorted({int(m) for m in np.round(np.logspace(1, 6, 60))}))
    has_gamma = False

    def candidates(
        self, n: int, alpha: float, epsilon: float, bins: Sequence[int], gamma: float | None
    ) -> list[Mechanism | None]:
        no_gamma(gamma)
        ranks = least_ranks(n, alpha, epsilon, np.array(bins), n)
        return [RankQuantile(int(k), epsilon, RHO) if k <= n else None for k in ranks]

    def aim(self, n: int, alpha: float, epsilon: float, m: int, gamma: float | None) -> Aim:
        no_gamma(gamma)
        return _aim(n, alpha, epsilon, m)

    def mechanism(self, level: float, rank: int | None, epsilon: float) -> RankQuantile | None:
        return None if rank is None else RankQuantile(rank, epsilon, RHO)

    def smallest_n(self, alpha: float, epsilon: float, m: int | None) -> int | None:
        return smallest_n(alpha, epsilon, m or self.grid[0])

    def smallest_epsilon(self, n: int, alpha: float, m: int | None) -> float | None:
        return smallest_epsilon(n, alpha, m or self.grid[0])

    def group_m(self, n: int, groups: int, alpha: float, epsilon: float) -> int:
        """m* for an equal share of the records at ε/2, counting also the draws of ranks above it."""
        return _group_m(n // groups, alpha, epsilon)

    def group_mechanism(self, count: int, n: int, alpha: float, epsilon: float, m: int) -> RankQuantile:
        rank = class_ranks(n, alpha, float(_HALF) * epsilon, m).rank(count)
        return RankQuantile(rank, epsilon, RHO, _HALF)


@lru_cache(maxsize=4096)
def _aim(n: int, alpha: float, epsilon: float, m: int) -> Aim:
    rank = int(least_ranks(n, alpha, epsilon, np.array([m]), n)[0])
    if rank > n:
        return Aim(rank / n, 1.0)
    return Aim(rank / n, max(lower(n, rank, m, epsilon), 1 - alpha), rank=rank)


@lru_cache(maxsize=1024)
def _group_m(count: int, alpha: float, epsilon: float) -> int:
    ranks = least_ranks(count, alpha, float(_HALF) * epsilon, np.array(Sharp.grid), math.inf)
    drawn = {m: RankQuantile(int(k), epsilon, RHO, _HALF) for m, k in zip(Sharp.grid, ranks, strict=True)}
    return least_of(
        Sharp.grid,
        least=lambda m: drawn[m].least_output(count, m),
        exact=lambda m: expected_output(drawn[m], count, m),
    )[1]
