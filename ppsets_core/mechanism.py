"""The two exponential mechanisms: how much less likely each bin is than the best, as floats and as exact integers."""

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np

from ppsets_core.bins import Runs


@dataclass(frozen=True)
class PaperQuantile:
    """P(ŝ = e_j) ∝ exp(−ε·min(q,1−q)·w_j/2), w_j = max(L_j/q, R_j/(1−q)): Algorithm 1 of the paper, for ½ ≤ q < 1."""

    level: float
    epsilon: float

    @property
    def overshoot_weight(self) -> float:
        """min(q,1−q)·w_j = max(c·L_j, R_j) with this c = (1−q)/q ≤ 1, so that one record moves it by at most 1."""
        return (1 - self.level) / self.level

    @property
    def decay(self) -> tuple[float, float]:
        """By how much the log-probability falls with each rank missing and each rank overshot."""
        return self.epsilon / 2, self.epsilon / 2 * self.overshoot_weight

    def target(self, n: int) -> float:
        return self.level * n

    def log_weights(self, runs: Runs, n: int) -> np.ndarray:
        ranks_off = np.maximum(self.overshoot_weight * runs.below, n - runs.upto)
        return -self.epsilon / 2 * (ranks_off - ranks_off.min(axis=-1, keepdims=True))

    def exact_scores(self, runs: Runs, n: int) -> tuple[np.ndarray, float]:
        """Integers u_j and a scale with P ∝ exp(u_j/scale). c is rounded to C/2^b, C ≤ 2^b, which changes the target by
        less than n/2^b ranks and the privacy not at all: one record moves every u_j by at most 2^b."""
        one = 1 << (62 - n.bit_length())
        overshoot = math.floor(Fraction(self.overshoot_weight) * one)
        return -np.maximum(overshoot * runs.below, one * (n - runs.upto)), scale_for(self.epsilon, 2 * one)


@dataclass(frozen=True)
class SharpQuantile:
    """P(ŝ = e_j) ∝ exp(4u_j·ε/5), 4u_j = −max(L_j + 1 − k, 4(k − K_j), 0): METHOD's sharp rule at ρ = ¼."""

    rank: int
    epsilon: float

    @property
    def decay(self) -> tuple[float, float]:
        return 4 * self.epsilon / 5, self.epsilon / 5

    def target(self, n: int) -> float:
        return self.rank

    def log_weights(self, runs: Runs, n: int) -> np.ndarray:
        ranks_off = -self._quarter_utilities(runs)
        return -self.epsilon / 5 * (ranks_off - ranks_off.min(axis=-1, keepdims=True))

    def exact_scores(self, runs: Runs, n: int) -> tuple[np.ndarray, float]:
        """Integers 4u_j and a scale of 5/ε: a record moving up changes each 4u_j by −4 … +1, moving down by −1 … +4."""
        return self._quarter_utilities(runs), scale_for(self.epsilon, 5)

    def _quarter_utilities(self, runs: Runs) -> np.ndarray:
        return -np.maximum(np.maximum(runs.below + 1 - self.rank, 4 * (self.rank - runs.upto)), 0)


Mechanism = PaperQuantile | SharpQuantile


def scale_for(epsilon: float, score_range: int) -> float:
    """The least float ≥ range/ε, so that scores whose changes differ by at most `range` lose no more than ε.

    ε is the decimal that it prints as: what a ledger adds up.
    """
    exact = score_range / Fraction(Decimal(repr(epsilon)))
    scale = float(exact)
    return scale if Fraction(scale) >= exact else math.nextafter(scale, math.inf)


def run_probabilities(mechanism: Mechanism, runs: Runs, n: int) -> np.ndarray:
    """The probability that ŝ falls in each run."""
    weights = np.maximum(runs.bins, 0) * np.exp(mechanism.log_weights(runs, n))
    return weights / weights.sum(axis=-1, keepdims=True)


def reach(mechanism: Mechanism, n: int, m: int) -> tuple[float, float]:
    """Ranks (low, high) such that bins with K < low or L > high have probability below e⁻³³ together.

    Some bin has L < target ≤ K and no penalty above the target's own; log-probabilities fall linearly from there.
    """
    nats = 33 + math.log(m)
    missing, overshot = mechanism.decay
    return mechanism.target(n) - nats / missing - 1, mechanism.target(n) + nats / overshot + 1
