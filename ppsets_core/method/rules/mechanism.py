"""What every rule's exponential mechanism has in common (docs/method.md#the-exponential-mechanism)."""

import math
from collections.abc import Hashable
from decimal import Decimal
from fractions import Fraction
from typing import Protocol

import numpy as np

from ppsets_core.method.bins import Runs


class Mechanism(Hashable, Protocol):
    """How much less likely each bin is than the best, as floats and as exact integers."""

    @property
    def epsilon(self) -> float:
        """The privacy loss that one draw may cost."""

    @property
    def decay(self) -> tuple[float, float]:
        """By how much the log-probability falls with each rank missing and each rank overshot."""

    def target(self, n: int) -> float:
        """The rank that a draw aims at."""

    def log_weight(self, below: np.ndarray, upto: np.ndarray, n: int) -> np.ndarray:
        """The log-probability of bins with L = `below` and K = `upto`, up to a constant."""

    def top_log_weight(self, below: np.ndarray, n: int) -> np.ndarray:
        """The log-probability of the top bin, whose edge is 1 and which has all n records in it or below."""

    def exact_scores(self, runs: Runs, n: int) -> tuple[np.ndarray, float]:
        """Integers u_j and a scale with P ∝ exp(u_j/scale), which lose no more than ε in exact arithmetic."""

    def least_output(self, n: int, m: int) -> float:
        """A quick bound from below on the mean ŝ over uniform scores: it spares most of the search for m*."""


def scale_for(epsilon: float, score_range: int, share: Fraction = Fraction(1)) -> float:
    """The least float ≥ range/ε, so that scores whose changes differ by at most `range` lose no more than ε.

    ε is the decimal that it prints as, which is what a ledger adds up, or a `share` of it.
    """
    exact = score_range / (Fraction(Decimal(repr(epsilon))) * share)
    scale = float(exact)
    return scale if Fraction(scale) >= exact else math.nextafter(scale, math.inf)


def log_weights(mechanism: Mechanism, runs: Runs, n: int) -> np.ndarray:
    """The log-probability of one bin of each run, up to a constant; 0 where it is greatest."""
    top = mechanism.top_log_weight(runs.below, n)
    logs = np.where(runs.is_top, top, mechanism.log_weight(runs.below, runs.upto, n))
    return logs - logs.max(axis=-1, keepdims=True)


def run_probabilities(mechanism: Mechanism, runs: Runs, n: int) -> np.ndarray:
    """The probability that ŝ falls in each run."""
    weights = np.maximum(runs.bins, 0) * np.exp(log_weights(mechanism, runs, n))
    return weights / weights.sum(axis=-1, keepdims=True)


def reach(mechanism: Mechanism, n: int, m: int) -> tuple[float, float]:
    """Ranks (low, high) such that bins with K < low or L > high have probability below e⁻³³ together.

    Some bin has L < target ≤ K and no penalty above the target's own; log-probabilities fall linearly from there.
    """
    nats = 33 + math.log(m)
    missing, overshot = mechanism.decay
    return mechanism.target(n) - nats / missing - 1, mechanism.target(n) + nats / overshot + 1
