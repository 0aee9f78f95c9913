"""How far above 1 − α each rule must aim, and the coverage that follows: METHOD's levels, ranks and bounds."""

import math
from fractions import Fraction

RHO = Fraction(1, 4)  # ranks overshot count a quarter of ranks missing
LEAST_GAMMA = 1e-12


def paper_level(n: int, alpha: float, epsilon: float, m: int, gamma: float) -> float:
    """q̃ = (n+1)(1−α) / (n(1−γα)) + (2/(εn))·log(m/(γα)), Algorithm 2 of the paper; may exceed 1."""
    return (n + 1) * (1 - alpha) / (n * (1 - gamma * alpha)) + 2 / (epsilon * n) * math.log(m / (gamma * alpha))


def best_gamma(n: int, alpha: float, epsilon: float) -> float:
    """γ*: of the roots of α²γ² − (α(1−α)ε(n+1)/2 + 2α)γ + 1 in (0, 1), and 1e-12, the one of least q̃ for every m."""
    b = alpha * (1 - alpha) * epsilon * (n + 1) / 2 + 2 * alpha
    root = math.sqrt(b * b - 4 * alpha * alpha)
    roots = (2 / (b + root), (b + root) / (2 * alpha * alpha))
    candidates = [gamma for gamma in roots if 0 < gamma < 1] + [LEAST_GAMMA]
    return min(candidates, key=lambda gamma: paper_level(n, alpha, epsilon, 2, gamma))


def paper_upper_bound(n: int, alpha: float, epsilon: float, m: int, gamma: float, level: float, p: float) -> float:
    """Theorem 2's bound from above on coverage, p the largest mass of a bin; at most 1."""
    slack = 2 * (1 + max(level / (1 - level), 1)) * math.log(m / (gamma * alpha)) / ((n + 1) * epsilon)
    return min(1.0, 1 - (1 - gamma) * alpha + (1 - gamma * alpha) * (2 * p + slack))


def expected_excess(ranks: float, m: int, rate: float) -> float:
    """Σ_{x=1..ranks} min(1, (m−1)·e^{−rate·x}): the mean of the envelope that bounds how many ranks ŝ is off."""
    certain = int(min(ranks, math.log(m - 1) // rate))
    first = math.exp(math.log(m - 1) - rate * (certain + 1))
    return certain + first * math.expm1(-rate * (ranks - certain)) / math.expm1(-rate)


def sharp_rates(epsilon: float) -> tuple[float, float]:
    """The decay of the sharp rule's law per rank missing, ε' = ε/(1+ρ), and per rank overshot, ρε'."""
    return epsilon / float(1 + RHO), epsilon * float(RHO / (1 + RHO))


def sharp_rank(n: int, alpha: float, epsilon: float, m: int) -> int:
    """k*: the least k with k − D(k) ≥ (1−α)(n+1). Above n the rule can promise nothing but the trivial answer."""
    goal = (1 - alpha) * (n + 1)
    missing, _ = sharp_rates(epsilon)

    def reaches(k: int) -> bool:
        return k - expected_excess(k, m, missing) >= goal

    low, high = math.ceil(goal) - 1, math.ceil(goal + expected_excess(math.inf, m, missing))
    while not reaches(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reaches(middle) else (middle, high)
    return high


def sharp_lower_bound(n: int, epsilon: float, m: int, rank: int) -> float:
    """P(Y ∈ C(X)) ≥ (k − D(k))/(n+1), whatever the data."""
    return (rank - expected_excess(rank, m, sharp_rates(epsilon)[0])) / (n + 1)


def sharp_upper_bound(n: int, epsilon: float, m: int, rank: int, p: float) -> float:
    """(k + U)/(n+1) + p, p the largest mass of a bin; at most 1."""
    return min(1.0, (rank + expected_excess(n + 1 - rank, m, sharp_rates(epsilon)[1])) / (n + 1) + p)
