"""Pearson's chi-square of draws against the law they should follow."""

import math

import numpy as np

LEAST_EXPECTED = 5.0


def chi_square(observed: np.ndarray, probability: np.ndarray) -> tuple[float, int, float]:
    """Statistic, degrees of freedom and p-value; neighbours are pooled until each pool expects five draws."""
    expected = probability * observed.sum()
    pool, pools, filled = np.empty(len(expected), dtype=int), 0, 0.0
    for place, value in enumerate(expected):
        pool[place] = pools
        filled += value
        if filled >= LEAST_EXPECTED:
            pools, filled = pools + 1, 0.0
    pool = np.minimum(pool, max(pools - 1, 0))
    o, e = np.bincount(pool, weights=observed), np.bincount(pool, weights=expected)
    statistic, degrees = float(((o - e) ** 2 / e).sum()), len(e) - 1
    return statistic, degrees, chi_square_tail(statistic, degrees)


def chi_square_tail(statistic: float, degrees: int) -> float:
    """P(χ² > statistic), by the finite sum that whole degrees of freedom allow.

    >>> round(chi_square_tail(3.841458820694124, 1), 6), round(chi_square_tail(18.307038053275146, 10), 6)
    (0.05, 0.05)
    """
    half = statistic / 2
    if half <= 0:
        return 1.0
    order = 0.5 if degrees % 2 else 1.0
    tail = math.erfc(math.sqrt(half)) if degrees % 2 else math.exp(-half)
    while order < degrees / 2:
        tail += math.exp(order * math.log(half) - half - math.lgamma(order + 1))
        order += 1
    return min(1.0, tail)
