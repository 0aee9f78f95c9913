"""Exact binomial intervals and tails."""

from ppsets_core.errors import InputError

CONFIDENCE = 0.95


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
    from scipy.special import betainc

    if successes <= 0:
        return 1.0
    return float(betainc(successes, trials - successes + 1, share)) if successes <= trials else 0.0


def beta_quantile(probability: float, a: float, b: float) -> float:
    """The value below which a Beta(a, b) variable lies with this probability."""
    from scipy.special import betaincinv

    if not 0 <= probability <= 1 or a <= 0 or b <= 0:
        raise InputError("A beta quantile needs a probability from 0 to 1 and two positive parameters.")
    return float(betaincinv(a, b, probability))
