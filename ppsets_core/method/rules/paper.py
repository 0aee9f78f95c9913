"""The paper's rule: "Private Prediction Sets", Algorithms 2, 3 and 5 (docs/method.md#the-papers-rule)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ppsets_core.method.bins import Runs
from ppsets_core.method.rules.mechanism import Mechanism, scale_for
from ppsets_core.method.rules.rule import Aim, bisect_epsilon, bisect_n
from ppsets_core.validation import LEAST_GAMMA


class Paper:
    """Aims at the level q̃, which a union bound over the m bins asks for."""

    name = "paper"
    label = "paper's rule"
    sentence = "As published."
    grid = tuple(sorted({int(m) for m in np.round(np.logspace(2, 6, 50))}))
    has_gamma = True

    def candidates(
        self, n: int, alpha: float, epsilon: float, bins: Sequence[int], gamma: float | None
    ) -> list[Mechanism | None]:
        gamma = best_gamma(n, alpha, epsilon) if gamma is None else gamma
        return [self.mechanism(paper_level(n, alpha, epsilon, m, gamma), None, epsilon) for m in bins]

    def aim(self, n: int, alpha: float, epsilon: float, m: int, gamma: float | None) -> Aim:
        gamma = best_gamma(n, alpha, epsilon) if gamma is None else gamma
        level = paper_level(n, alpha, epsilon, m, gamma)
        return Aim(level, 1 - alpha if level < 1 else 1.0, gamma=gamma)

    def mechanism(self, level: float, rank: int | None, epsilon: float) -> "PaperQuantile | None":
        return PaperQuantile(level, epsilon) if level < 1 else None

    def smallest_n(self, alpha: float, epsilon: float, m: int | None) -> int | None:
        return bisect_n(self, alpha, epsilon, m or self.grid[0])

    def smallest_epsilon(self, n: int, alpha: float, m: int | None) -> float | None:
        return bisect_epsilon(self, n, alpha, m or self.grid[0])


def paper_level(n: int, alpha: float, epsilon: float, m: int, gamma: float) -> float:
    """q̃ = (n+1)(1−α) / (n(1−γα)) + (2/(εn))·log(m/(γα)), Algorithm 3 of the paper; may exceed 1."""
    return (n + 1) * (1 - alpha) / (n * (1 - gamma * alpha)) + 2 / (epsilon * n) * math.log(m / (gamma * alpha))


def best_gamma(n: int, alpha: float, epsilon: float) -> float:
    """γ*: of the roots of α²γ² − (α(1−α)ε(n+1)/2 + 2α)γ + 1 in (0, 1), and 1e-12, the one of least q̃ for every m."""
    b = alpha * (1 - alpha) * epsilon * (n + 1) / 2 + 2 * alpha
    root = math.sqrt(b * b - 4 * alpha * alpha)
    roots = (2 / (b + root), (b + root) / (2 * alpha * alpha))
    candidates = [gamma for gamma in roots if 0 < gamma < 1] + [LEAST_GAMMA]
    return min(candidates, key=lambda gamma: paper_level(n, alpha, epsilon, 2, gamma))


@dataclass(frozen=True)
class PaperQuantile:
    """P(ŝ = e_j) ∝ exp(−ε·min(q,1−q)·w_j/2), w_j = max(L_j/q, R_j/(1−q)): Algorithm 2 of the paper, for ½ ≤ q < 1."""

    level: float
    epsilon: float

    @property
    def overshoot_weight(self) -> float:
        """min(q,1−q)·w_j = max(c·L_j, R_j) with this c = (1−q)/q ≤ 1, so that one record moves it by at most 1."""
        return (1 - self.level) / self.level

    @property
    def decay(self) -> tuple[float, float]:
        return self.epsilon / 2, self.epsilon / 2 * self.overshoot_weight

    def target(self, n: int) -> float:
        return self.level * n

    def log_weight(self, below: np.ndarray, upto: np.ndarray, n: int) -> np.ndarray:
        return -self.epsilon / 2 * (np.maximum(self.overshoot_weight * below, n - upto) - (1 - self.level) * n)

    def top_log_weight(self, below: np.ndarray, n: int) -> np.ndarray:
        return self.log_weight(below, np.full_like(below, n), n)

    def exact_scores(self, runs: Runs, n: int) -> tuple[np.ndarray, float]:
        """c is rounded to C/2^b, C ≤ 2^b, which changes the target by less than n/2^b ranks and the privacy not at all:
        one record moves every integer by at most 2^b."""
        one = 1 << (62 - n.bit_length())
        overshoot = math.floor(Fraction(self.overshoot_weight) * one)
        return -np.maximum(overshoot * runs.below, one * (n - runs.upto)), scale_for(self.epsilon, 2 * one)

    def least_output(self, n: int, m: int) -> float:
        """E[ŝ] for endlessly many bins and scores, less two ranks and a bin."""
        missing, overshot = self.decay
        above, below = _faded(overshot * n, 1 - self.level), _faded(missing * n, self.level)
        return self.level + (above[1] - below[1]) / (above[0] + below[0]) - 2 / n - 1 / m


def _faded(rate: float, span: float) -> tuple[float, float]:
    """∫ e^{−rate·x} dx and ∫ x·e^{−rate·x} dx over 0 ≤ x ≤ span."""
    faded = rate * span
    if faded < 1e-3:
        return span, span * span * (0.5 - faded / 3)
    return -math.expm1(-faded) / rate, (1 - (1 + faded) * math.exp(-faded)) / (rate * rate)
