"""What a mechanism gives on uniform scores: the data-independent yardstick by which m* is chosen."""

import math

import numpy as np

from ppsets_core.bins import Runs, runs_around
from ppsets_core.mechanism import Mechanism, reach, run_probabilities

SHIFTS = np.arange(16)[:, None]  # δ = shift/(16m)


def expected_output(mechanism: Mechanism, n: int, m: int) -> float:
    """E[ŝ] over scores min(1, (i−½)/n + δ), i = 1…n, averaged over 16 shifts δ spread evenly across one bin width."""
    runs = _grouped_runs(mechanism, n, m) if m < n else _spread_runs(mechanism, n, m)
    middle = (runs.first + runs.last) / (2 * m)
    return float((run_probabilities(mechanism, runs, n) * middle).sum(axis=-1).mean())


def _grouped_runs(mechanism: Mechanism, n: int, m: int) -> Runs:
    """About one score a bin or more: every bin within reach of the target is a run."""
    low, high = reach(mechanism, n, m)
    first = max(1, math.floor(low / n * m))
    last = min(m, math.ceil(high / n * m) + 2)
    edges = np.arange(first - 1, last + 1)
    upto = np.clip((16 * n * edges - n * SHIFTS + 8 * m) // (16 * m), 0, n)
    if last == m:
        upto[:, -1] = n
    bins = np.broadcast_to(edges[1:], upto[:, 1:].shape)
    return Runs(bins, bins, upto[:, :-1], upto[:, 1:])


def _spread_runs(mechanism: Mechanism, n: int, m: int) -> Runs:
    """At most one score a bin, but for the last bin: a run for each score within reach and each gap between."""
    low, high = reach(mechanism, n, m)
    first, last = max(1, math.floor(low)), min(n, math.ceil(high) + 1)
    ranks = np.arange(first, last + 1)
    occupied = np.minimum(m, -(-(8 * m * (2 * ranks - 1) + n * SHIFTS) // (16 * n)))
    runs = runs_around(occupied, np.broadcast_to(ranks, occupied.shape), before=first - 1, last=m)
    if first > 1:
        runs.first[:, 0] = occupied[:, 0]
    if last < n:
        runs.last[:, -1] = occupied[:, -1]
    elif first < n:
        shared = occupied[:, -2] == m
        runs.last[shared, -4] = m - 1
        runs.below[shared, -2] = n - 2
    return runs


def least_expected_output(mechanism: Mechanism, n: int, m: int) -> float:
    """A quick bound from below on `expected_output`: E[ŝ] if edges were a continuum, less one rank, plus half a bin
    (a score rounds up to its edge) unless ŝ could reach the last edge."""
    missing, overshot = (rate * n for rate in mechanism.decay)
    target = mechanism.target(n) / n
    mass = _decayed_mass(missing, target) + _decayed_mass(overshot, 1 - target)
    moment = _decayed_moment(overshot, 1 - target) - _decayed_moment(missing, target)
    half_a_bin = 0.5 / m if reach(mechanism, n, m)[1] / n + 2 / m < 1 else 0.0
    return target + moment / mass - 1 / n + half_a_bin


def _decayed_mass(rate: float, span: float) -> float:
    """∫₀^span e^{−rate·x} dx."""
    return -math.expm1(-rate * span) / rate


def _decayed_moment(rate: float, span: float) -> float:
    """∫₀^span x·e^{−rate·x} dx."""
    decayed = rate * span
    if decayed < 1e-3:
        return span * span * (0.5 - decayed / 3)
    return (1 - (1 + decayed) * math.exp(-decayed)) / (rate * rate)
