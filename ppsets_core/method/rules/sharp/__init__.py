"""The sharp rule, ours: the paper's mechanism and ε, with a rank from the worst case itself instead of a union bound.

See docs/method.md#the-sharp-rule.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np

from ppsets_core.method.rules.choosing_m import expected_output, least_of
from ppsets_core.method.rules.mechanism import Mechanism
from ppsets_core.method.rules.rank_quantile import RankQuantile
from ppsets_core.method.rules.rule import Aim, no_gamma
from ppsets_core.method.rules.sharp.bound import RHO, least_ranks, lower
from ppsets_core.method.rules.sharp.class_ranks import class_ranks
from ppsets_core.method.rules.sharp.enough import smallest_epsilon, smallest_n

_HALF = Fraction(1, 2)  # one record may change two diagnoses


class Sharp:
    """Aims at the least rank k with lower(n, k) ≥ 1 − α."""

    name = "sharp"
    label = "sharp rule"
    sentence = "Same guarantee, smaller sets."
    grid = tuple(int(m) for m in np.unique(np.round(np.logspace(1, 6, 60))))
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
