"""The m equal bins I_j = ((j−1)/m, j/m] on [0, 1], the runs of bins between occupied ones, and equality at an edge."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ppsets_core.errors import InputError

FEW = 16_384
TOLERANCE, HALF_TOLERANCE = 1e-6, 2.0**-10
"""By how much two arithmetics may differ in the score of one record: any, and where one of them is float16."""


def limit(threshold: ArrayLike, half_precision: bool = False) -> np.ndarray:
    """The largest number that counts as at most the threshold: every comparison with a threshold is with this.

    A score may be computed otherwise for a new patient than for the calibration, 1 − 0.7 > 0.3 in float64. The
    tolerance can only enlarge a set, and can only take an X-ray out of those marked as unfamiliar. See
    docs/method.md#at-the-edges.
    """
    return np.asarray(threshold, dtype=np.float64) + (HALF_TOLERANCE if half_precision else TOLERANCE)


def bin_index(scores: np.ndarray, m: int) -> np.ndarray:
    """The j with e_{j−1} < s ≤ e_j, e_j = j/m, exactly as floating point compares them; a score of 0 is in bin 1."""
    return _bins(np.asarray(scores), m).astype(np.int64)


def _bins(scores: np.ndarray, m: int) -> np.ndarray:
    """As floats. Rounding moves s·m and j/m by at most m·2⁻⁵³ each, so that only where a score is this close to an edge
    are scores compared with edges."""
    scaled = scores * m
    j = np.asarray(np.ceil(scaled))
    above, near = j - scaled, m * 2.0**-51
    if above.min(initial=0.5) <= near or above.max(initial=0.5) >= 1 - near:
        np.clip(j, 1, m, out=j)
        j -= (j > 1) & ((j - 1) / m >= scores)
        j += j / m < scores
    return j


@dataclass(frozen=True)
class Runs:
    """Stretches of neighbouring bins that share L = #{[s] < e_j} and K = #{[s] ≤ e_j}; at most 2n+2, whatever m is.

    The last axis counts runs. A run whose `last` is below its `first` is empty.
    """

    first: np.ndarray
    last: np.ndarray
    below: np.ndarray  # L
    upto: np.ndarray  # K
    m: int | None = None  # the number of all bins, where the top one is among the runs

    @property
    def bins(self) -> np.ndarray:
        return self.last - self.first + 1

    @property
    def is_top(self) -> np.ndarray:
        """Which run is the top bin, all of it and alone."""
        return (self.first == self.last) & (self.last == self.m)


def runs_around(occupied: np.ndarray, upto: np.ndarray, m: int) -> Runs:
    """The runs of all m bins, given the occupied ones and K at each; some may be empty."""
    empty = np.empty((4, *occupied.shape[:-1], 2 * occupied.shape[-1] + 1), dtype=np.int64)
    runs = Runs(empty[0], empty[1], empty[2], empty[3], m)
    runs.first[..., 0], runs.last[..., -1], runs.upto[..., 0] = 1, m, 0
    runs.first[..., 1::2], runs.last[..., 1::2] = occupied, occupied
    runs.first[..., 2::2], runs.last[..., 0:-1:2] = occupied + 1, occupied - 1
    runs.upto[..., 1::2], runs.upto[..., 2::2] = upto, upto
    runs.below[...] = runs.upto
    runs.below[..., 1::2] = runs.upto[..., 0:-1:2]
    return runs


class BinCounter:
    """Counts how many scores lie in each of the m bins, batch by batch; bins wait and are counted together."""

    def __init__(self, m: int) -> None:
        self._m, self._counts = m, np.zeros(m + 1, dtype=np.int64)
        self._waiting, self._filled = np.empty(max(m, FEW), dtype=np.int64), 0

    def add(self, scores: np.ndarray) -> None:
        """Take a few thousand at a time, so that their arrays stay in the processor's cache."""
        for start in range(0, len(scores), FEW):
            some = _bins(scores[start : start + FEW], self._m)
            if self._filled + len(some) > len(self._waiting):
                self._count()
            self._waiting[self._filled : self._filled + len(some)] = some
            self._filled += len(some)

    def _count(self) -> None:
        new = np.bincount(self._waiting[: self._filled], minlength=self._m + 1)
        if len(new) > self._m + 1:
            raise InputError("A score is outside [0, 1].")  # records may have changed since they were checked
        self._counts += new
        self._filled = 0

    def total(self) -> np.ndarray:
        self._count()
        return self._counts[1:]


def runs_of(scores: np.ndarray, m: int) -> Runs:
    """All runs of a data set, empty ones left out; the top bin, which ŝ = 1 stands for, is always one of its own."""
    occupied, counts = np.unique(np.append(bin_index(scores, m), m), return_counts=True)
    counts[-1] -= 1
    return _all_runs(occupied, counts, m)


def runs_of_counts(counts: np.ndarray) -> Runs:
    """All runs of a data set, from the number of scores in each bin."""
    is_kept = counts > 0
    is_kept[-1] = True
    return _all_runs(np.flatnonzero(is_kept) + 1, counts[is_kept], len(counts))


def _all_runs(occupied: np.ndarray, counts: np.ndarray, m: int) -> Runs:
    runs = runs_around(occupied, np.cumsum(counts), m)
    kept = runs.bins > 0
    return Runs(runs.first[kept], runs.last[kept], runs.below[kept], runs.upto[kept], m)
