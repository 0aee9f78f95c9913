"""Algorithms 2 to 5 of "Private Prediction Sets", transcribed line by line with 50 digits: slow, and plain to check.

The numbers are the paper's: Algorithm 1 is its informal outline. Nothing here comes from the library.
"""

from decimal import Decimal as D
from decimal import getcontext

getcontext().prec = 50
GAMMA_FALLBACK = D("1e-12")


def quantile_law(scores, m, q, epsilon):
    """Algorithm 2, the private quantile: P(ŝ = e_j) for j = 1…m."""
    edges = [D(j) / m for j in range(1, m + 1)]
    binned = [next(edge for edge in edges if score <= edge) for score in scores]  # [s]: its bin's upper edge
    weights = []
    for edge in edges:
        below = sum(score < edge for score in binned)
        above = sum(score > edge for score in binned)
        w = max(below / q, above / (1 - q))
        weights.append((-epsilon * min(q, 1 - q) * w / 2).exp())
    return [weight / sum(weights) for weight in weights]


def level(n, alpha, epsilon, m, gamma):
    """q̃, the adjusted level of Algorithm 3."""
    return (n + 1) * (1 - alpha) / (n * (1 - gamma * alpha)) + 2 / (epsilon * n) * (m / (gamma * alpha)).ln()


def calibration_law(probabilities, labels, alpha, epsilon, m, gamma):
    """Algorithm 3, private calibration: the law of ŝ. Level 1 or more: ŝ = 1, and the data is not touched."""
    scores = [1 - row[label] for row, label in zip(probabilities, labels, strict=True)]
    q = level(len(scores), alpha, epsilon, m, gamma)
    return [D(0)] * (m - 1) + [D(1)] if q >= 1 else quantile_law(scores, m, q, epsilon)


def prediction_set(row, threshold):
    """Algorithm 4, the prediction set: every label whose score is at most ŝ."""
    return [label for label, probability in enumerate(row) if 1 - probability <= threshold]


def best_gamma(n, alpha, epsilon, m):
    """Algorithm 5, first half: γ* is a root of α²γ² − bγ + 1 in (0, 1), or 1e-12, whichever has the least level."""
    b = alpha * (1 - alpha) * epsilon * (n + 1) / 2 + 2 * alpha
    root = (b * b - 4 * alpha * alpha).sqrt()
    roots = [(b - root) / (2 * alpha * alpha), (b + root) / (2 * alpha * alpha)]
    candidates = [gamma for gamma in roots if 0 < gamma < 1] + [GAMMA_FALLBACK]
    return min(candidates, key=lambda gamma: level(n, alpha, epsilon, m, gamma))


def expected_output(n, alpha, epsilon, m):
    """Algorithm 5, inner step: ŝ on uniform scores. The paper draws both at random; here both are exact.

    The scores are (i−½)/n + δ, clipped to [0, 1], and the mean of ŝ is averaged over 16 shifts δ across one bin.
    """
    q = level(n, alpha, epsilon, m, best_gamma(n, alpha, epsilon, m))
    if q >= 1:
        return D(1)
    total = D(0)
    for a in range(16):
        shift = D(2 * a - 15) / (32 * m)
        scores = [min(max(D(2 * i - 1) / (2 * n) + shift, D(0)), D(1)) for i in range(1, n + 1)]
        law = quantile_law(scores, m, q, epsilon)
        total += sum(D(j) / m * p for j, p in enumerate(law, start=1))
    return total / 16


def best_m(n, alpha, epsilon, grid):
    """Algorithm 5, m*: the least expected output over the grid (the paper's has 50 values from 10² to 10⁶)."""
    return min(grid, key=lambda m: (expected_output(n, alpha, epsilon, m), m))
