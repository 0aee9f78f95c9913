"""P-COQS, Private Conformity via Quantile Search: a noisy binary search for the conformal quantile, to compare with.

O. M. Romanus, R. Molinari, "Differentially Private Conformal Prediction via Quantile Binary Search", arXiv:2507.12497.
Written anew: halve [0, 1] N = ⌈log₂(1/δ)⌉ times; each time add Gaussian noise to the number of scores up to the middle
and compare with ⌈(1−α)(n+1)⌉. The constants, δ = 1e-10 among them, are those of the authors' CoronaHack experiment
(github.com/SMAC-Group/pcoqs), which also rounds the result to two digits; that is left out here.

Replacing a record moves a count by at most 1, so noise of variance σ² makes it 1/(2σ²)-zCDP. N counts compose to
N/(2σ²) = ρ with σ² = N/(2ρ) (Bun, Steinke, "Concentrated Differential Privacy", TCC 2016).

Simulation only, by a NumPy generator: never a release.
"""

import math

import numpy as np

from ppsets_core.method.nonprivate import conformal_rank

DELTA = 1e-10


def steps_for(delta: float) -> int:
    """
    >>> steps_for(1e-10)
    34
    """
    return math.ceil(math.log2(1 / delta))


def p_coqs(
    scores: np.ndarray, alpha: float, rho: float, rng: np.random.Generator, *, delta: float = DELTA
) -> np.ndarray:
    """One threshold per row of scores (data sets, n), all in [0, 1]; each ρ-zCDP."""
    steps, target = steps_for(delta), conformal_rank(scores.shape[1], alpha)
    sigma = math.sqrt(steps / (2 * rho))
    left, right = np.zeros(len(scores)), np.ones(len(scores))
    for _ in range(steps):
        middle = (left + right) / 2
        count = (scores <= middle[:, None]).sum(axis=1) + rng.normal(0, sigma, len(scores))
        left, right = np.where(count < target, middle + delta, left), np.where(count < target, right, middle)
    return (left + right) / 2


def zcdp_of(epsilon: float) -> float:
    """The ρ that an exponential mechanism of bounded range ε satisfies: ε²/8, proved in
    docs/method.md#the-exponential-mechanism (M. Cesar, R. Rogers, ALT 2021, arXiv:2004.07223).

    It is no less than what the mechanism needs, and more where ε is large.
    """
    return epsilon**2 / 8


def epsilon_of(rho: float, delta: float) -> float:
    """ρ-zCDP is (ε, δ)-differentially private with ε = ρ + 2√(ρ·log(1/δ)): Bun and Steinke, Proposition 1.3."""
    return rho + 2 * math.sqrt(rho * math.log(1 / delta))
