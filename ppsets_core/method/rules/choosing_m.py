"""Choosing the number of bins: by what a mechanism gives on uniform scores, exactly. Data-independent.

The scores are (i−½)/n + δ, i = 1…n, clipped to [0, 1], for 16 shifts δ spread evenly across one bin width and centred
on 0; the expectation of the output is exact for each and averaged over them. For uniform scores it is the coverage.
See docs/method.md#choosing-m.
"""

import heapq
import math
from collections.abc import Callable, Iterable

import numpy as np

from ppsets_core.method.rules.mechanism import Mechanism, reach

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
    """E[ŝ]; bins so far from the target that they weigh less than e⁻³³ of the whole are left out."""
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
