"""Where sweeps stop: round values, evenly spread on a logarithmic axis."""

import numpy as np

EPSILONS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0)
BINS = (10, 30, 100, 300, 1000, 3000, 10_000, 100_000)


def log_grid(low: float, high: float, count: int) -> tuple[float, ...]:
    """`count` values of three digits from low to high."""
    return tuple(float(f"{value:.3g}") for value in np.geomspace(low, high, count))


def record_counts(low: int, high: int, count: int) -> tuple[int, ...]:
    """Up to `count` numbers of records from low to high, each at most three digits and zeros but for the last."""
    return tuple(sorted({*(int(value) for value in log_grid(low, high, count)[:-1]), high}))
