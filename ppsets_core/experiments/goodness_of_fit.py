"""Pearson's chi-square of draws against the law they should follow."""

import numpy as np

LEAST_EXPECTED = 5.0


def chi_square(observed: np.ndarray, probability: np.ndarray) -> tuple[float, int, float]:
    """Statistic, degrees of freedom and p-value; neighbours are pooled until each pool expects five draws."""
    from scipy.special import chdtrc

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
    return statistic, degrees, float(chdtrc(degrees, statistic))
