"""Exact binomial intervals and tails, from the incomplete beta function; SciPy is not needed for them."""

import math

from ppsets_core.errors import InputError

CONFIDENCE = 0.95
_TINY, _PRECISION, _MOST_TERMS = 1e-300, 1e-16, 100_000


def clopper_pearson(successes: int, trials: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """The exact two-sided interval of a share: it holds the true one with at least this confidence, whatever n.

    >>> [round(limit, 4) for limit in clopper_pearson(9, 10)]
    [0.555, 0.9975]
    """
    if not 0 <= successes <= trials:
        raise InputError(f"There cannot be {successes} of {trials}.")
    tail = (1 - confidence) / 2
    lower = beta_quantile(tail, successes, trials - successes + 1) if successes else 0.0
    upper = beta_quantile(1 - tail, successes + 1, trials - successes) if successes < trials else 1.0
    return lower, upper


def binomial_at_least(successes: int, trials: int, share: float) -> float:
    """P(X ≥ successes) for X binomial: how often so many or more would be seen by chance."""
    if successes <= 0:
        return 1.0
    return beta_cdf(share, successes, trials - successes + 1) if successes <= trials else 0.0


def beta_quantile(probability: float, a: float, b: float) -> float:
    """The value below which a Beta(a, b) variable lies with this probability, to the last digits by bisection."""
    if not 0 <= probability <= 1 or a <= 0 or b <= 0:
        raise InputError("A beta quantile needs a probability from 0 to 1 and two positive parameters.")
    low, high = 0.0, 1.0
    while low < (middle := (low + high) / 2) < high:
        if beta_cdf(middle, a, b) < probability:
            low = middle
        else:
            high = middle
    return high if probability > 0 else 0.0


def beta_cdf(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function I_x(a, b), by its continued fraction where that converges fast."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - beta_cdf_directly(1 - x, b, a)
    return beta_cdf_directly(x, a, b)


def beta_cdf_directly(x: float, a: float, b: float) -> float:
    """Lentz's method on the fraction for I_x(a, b), x below its mean."""
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    numerator, denominator = 1.0, _bounded(1 - (a + b) * x / (a + 1))
    denominator = 1 / denominator
    fraction = denominator
    for term in range(1, _MOST_TERMS):
        even = term * (b - term) * x / ((a + 2 * term - 1) * (a + 2 * term))
        odd = -(a + term) * (a + b + term) * x / ((a + 2 * term) * (a + 2 * term + 1))
        for step in (even, odd):
            denominator = 1 / _bounded(1 + step * denominator)
            numerator = _bounded(1 + step / numerator)
            change = numerator * denominator
            fraction *= change
        if abs(change - 1) < _PRECISION:
            break
    return min(1.0, math.exp(log_front) * fraction / a)


def _bounded(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
