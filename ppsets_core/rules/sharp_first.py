"""The sharp rule's first version, ρ = ¼ with a union bound: kept so that calibrations made with it can be read.

See docs/method.md#the-sharp-rule-first-version.
"""

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from ppsets_core.rules.mechanism import Mechanism
from ppsets_core.rules.rank_quantile import RankQuantile
from ppsets_core.rules.rule import Aim, bisect_epsilon, bisect_n, no_gamma

RHO = Fraction(1, 4)


class SharpFirst:
    """Aims at the least rank k with k − D(k) ≥ (1−α)(n+1)."""

    name = "sharp-1"
    label = "sharp rule, first version"
    sentence = "Replaced by a sharper one. Calibrations made with it still hold."
    grid = tuple(int(m) for m in np.unique(np.round(np.logspace(1, 6, 60))))
    has_gamma = False

    def candidates(
        self, n: int, alpha: float, epsilon: float, bins: Sequence[int], gamma: float | None
    ) -> list[Mechanism | None]:
        aims = [self.aim(n, alpha, epsilon, m, gamma) for m in bins]
        return [self.mechanism(aim.level, aim.rank, epsilon) for aim in aims]

    def aim(self, n: int, alpha: float, epsilon: float, m: int, gamma: float | None) -> Aim:
        no_gamma(gamma)
        missing = epsilon / float(1 + RHO)
        rank = _rank(n, alpha, m, missing)
        if rank > n:
            return Aim(rank / n, 1.0)
        return Aim(rank / n, (rank - expected_excess(rank, m, missing)) / (n + 1), rank=rank)

    def mechanism(self, level: float, rank: int | None, epsilon: float) -> RankQuantile | None:
        return None if rank is None else RankQuantile(rank, epsilon, RHO)

    def smallest_n(self, alpha: float, epsilon: float, m: int | None) -> int | None:
        return bisect_n(self, alpha, epsilon, m or self.grid[0])

    def smallest_epsilon(self, n: int, alpha: float, m: int | None) -> float | None:
        return bisect_epsilon(self, n, alpha, m or self.grid[0])


def expected_excess(ranks: float, m: int, rate: float) -> float:
    """D = Σ_{x=1..ranks} min(1, (m−1)·e^{−rate·x}): the mean of the envelope that bounds how many ranks ŝ is off."""
    certain = int(min(ranks, math.log(m - 1) // rate))
    first = math.exp(math.log(m - 1) - rate * (certain + 1))
    return certain + first * math.expm1(-rate * (ranks - certain)) / math.expm1(-rate)


def _rank(n: int, alpha: float, m: int, missing: float) -> int:
    """The least k with k − D(k) ≥ (1−α)(n+1), which may exceed n."""
    goal = (1 - alpha) * (n + 1)

    def reaches(k: int) -> bool:
        return k - expected_excess(k, m, missing) >= goal

    low, high = math.ceil(goal) - 1, math.ceil(goal + expected_excess(math.inf, m, missing))
    while not reaches(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reaches(middle) else (middle, high)
    return high
