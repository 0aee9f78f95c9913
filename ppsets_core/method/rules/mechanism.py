"""What every rule's exponential mechanism has in common (docs/method.md#the-exponential-mechanism), and its mean on
uniform scores, by which the number of bins is chosen (docs/method.md#choosing-m)."""

import heapq
import math
from collections.abc import Callable, Hashable, Iterable
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


SHIFTS = 2 * np.arange(16)[:, None] - 15  # δ = shift/(32m)


def least_of(grid: Iterable[int], least: Callable[[int], float], exact: Callable[[int], float]) -> tuple[float, int]:
    """The least (exact(m), m) over the grid, where `least` bounds `exact` from below: `exact` is called on few m."""
    heap = [(least(m), m, False) for m in grid]
    heapq.heapify(heap)
    while not heap[0][2]:
        _, m, _ = heap[0]
        heapq.heapreplace(heap, (exact(m), m, True))
    return heap[0][0], heap[0][1]


def expected_output(mechanism: Mechanism, n: int, m: int) -> float:
    """E[ŝ] on uniform scores, where it is the coverage; bins that weigh less than e⁻³³ of the whole are left out.

    The scores are (i−½)/n + δ, i = 1…n, clipped to [0, 1]; exact for each of 16 shifts δ, spread evenly across one
    bin width and centred on 0, and averaged over them. Data-independent.
    """
    mass, moment = (_grouped if m < n else _spread)(mechanism, n, m)
    return float((moment / mass).mean() / m)


def _grouped(mechanism: Mechanism, n: int, m: int) -> tuple[np.ndarray, np.ndarray]:
    """About one score per bin or more: bin by bin."""
    low, high = reach(mechanism, n, m)
    first = max(1, math.floor(low / n * m) - 1)
    last = min(m, math.ceil(high / n * m) + 3)
    edges = np.arange(first - 1, last + 1)
    upto = np.clip((n * (32 * edges - SHIFTS) + 16 * m) // (32 * m), 0, n)
    if first == 1:
        upto[:, 0] = 0
    logs = mechanism.log_weight(upto[:, :-1], upto[:, 1:], n)
    if last == m:
        logs[:, -1] = mechanism.top_log_weight(upto[:, -2], n)
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    return weights.sum(axis=1), weights @ edges[1:]


def _spread(mechanism: Mechanism, n: int, m: int) -> tuple[np.ndarray, np.ndarray]:
    """At most one score per bin: a score's own bin weighs by its rank, so do the bins between it and the next."""
    low, high = reach(mechanism, n, m)
    first, last = max(1, math.floor(low)), min(n, math.ceil(high) + 1)
    ranks = np.arange(first, last + 1)
    bins = (-(-(16 * m * (2 * ranks - 1) + n * SHIFTS) // max(32 * n, 1))).astype(float)
    own, after = mechanism.log_weight(ranks - 1, ranks, n), mechanism.log_weight(ranks, ranks, n)
    before = mechanism.log_weight(np.zeros(1), np.zeros(1), n)
    shared = bins[:, -1] == m if n else np.zeros(16, dtype=bool)  # the last score is in the top bin
    at_top = mechanism.top_log_weight(n - 1.0 * shared, n)
    most = max(part.max(initial=-np.inf) for part in (own, after, at_top))
    own, after, before, at_top = (np.exp(part - most) for part in (own, after, before, at_top))
    ends = bins[:, 1:] if last < n else np.column_stack([bins[:, 1:], np.full(16, m)])
    starts, after = bins[:, : ends.shape[1]], after[: ends.shape[1]]
    gaps = np.maximum(ends - starts - 1, 0)
    mass, moment = gaps @ after + own.sum(), (gaps * (starts + ends)) @ (after / 2) + bins @ own
    if first == 1:
        ahead = (bins[:, 0] if n else np.full(16, m)) - 1
        mass, moment = mass + before * ahead, moment + before * ahead * (ahead + 1) / 2
    if last == n:
        at_top = at_top - shared * (own[-1] if n else 0)
        mass, moment = mass + at_top, moment + m * at_top
    return mass, moment
