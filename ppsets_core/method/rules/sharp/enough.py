"""How few records, or how small an ε, still let the sharp rule leave anything out of a set. Λ grows with m."""

import math

import numpy as np

from ppsets_core.method.rules.sharp.bound import bounds, rates, share
from ppsets_core.validation import LARGEST_EPSILON, LARGEST_N, LEAST_EPSILON


def smallest_n(alpha: float, epsilon: float, m: int) -> int | None:
    """The least n for which some k ≤ n keeps the promise; None above 10¹¹.

    k = n decides, as `lower` grows with k; its Λ grows with n, so the n that it needs is approached from below.
    """
    n = 1
    while n <= LARGEST_N:
        whole, part = share(n + 1, alpha)
        at_least, at_most = bounds(n, 0, m, epsilon)
        if at_most <= whole + part:
            return n
        n = max(n + 1, math.ceil(float(at_least) / alpha * (1 - 1e-12)) - 1)
    return None


def smallest_epsilon(n: int, alpha: float, m: int) -> float | None:
    """The least ε, to the last bit of a float, with which n records keep the promise; None where none does.

    More ε is not always better: Λ₂ grows towards 1 with it, so for α(n+1) < 1 only a stretch of ε may do, or none.
    """
    whole, part = share(n + 1, alpha)

    def enough(epsilon: float) -> bool:
        room = np.full(1, whole + part)
        return bool(bounds(n, [0], m, epsilon, room)[1] <= room)

    wide: tuple[float, ...] = (LARGEST_EPSILON, *np.geomspace(100, 1e-3, 100).tolist())
    if not whole and part > 0.5:
        wide = (*wide, rates(1.0)[1] ** -1 * math.log(part / (1 - part)) * (1 - 1e-8))  # Λ₂ = 1/(1+v) at m = 2
    high = next((epsilon for epsilon in wide if enough(epsilon)), None)
    if high is None or enough(LEAST_EPSILON):
        return high and LEAST_EPSILON
    low = LEAST_EPSILON
    while low < (middle := math.sqrt(low * high) if high > 1.01 * low else low + (high - low) / 2) < high:
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
