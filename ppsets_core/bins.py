"""The m equal bins I_j = ((j−1)/m, j/m] on [0, 1], and the runs of bins between occupied ones."""

from dataclasses import dataclass

import numpy as np


def bin_index(scores: np.ndarray, m: int) -> np.ndarray:
    """The j with e_{j−1} < s ≤ e_j, e_j = j/m, exactly as floating point compares them; a score of 0 is in bin 1."""
    j = np.clip(np.ceil(scores * m), 1, m)
    j -= (j > 1) & ((j - 1) / m >= scores)
    j += j / m < scores
    return j.astype(np.int64)


@dataclass(frozen=True)
class Runs:
    """Stretches of neighbouring bins that share L = #{[s] < e_j} and K = #{[s] ≤ e_j}; at most 2n+1, whatever m is.

    The last axis counts runs. A run whose `last` is below its `first` is empty.
    """

    first: np.ndarray
    last: np.ndarray
    below: np.ndarray  # L
    upto: np.ndarray  # K

    @property
    def bins(self) -> np.ndarray:
        return self.last - self.first + 1


def runs_around(occupied: np.ndarray, upto: np.ndarray, before: int = 0, first: int = 1, last: int = 1) -> Runs:
    """The runs from bin `first` to bin `last`, given the occupied bins in between, K at each, and K before them all."""
    shape = (*occupied.shape[:-1], 2 * occupied.shape[-1] + 1)
    runs = Runs(*(np.empty(shape, dtype=np.int64) for _ in range(4)))
    runs.first[..., 0], runs.last[..., -1], runs.upto[..., 0] = first, last, before
    runs.first[..., 1::2], runs.last[..., 1::2] = occupied, occupied
    runs.first[..., 2::2], runs.last[..., 0:-1:2] = occupied + 1, occupied - 1
    runs.upto[..., 1::2], runs.upto[..., 2::2] = upto, upto
    runs.below[...] = runs.upto
    runs.below[..., 1::2] = runs.upto[..., 0:-1:2]
    return runs


def runs_of(scores: np.ndarray, m: int) -> Runs:
    """All runs of a data set, empty ones left out."""
    occupied, counts = np.unique(bin_index(scores, m), return_counts=True)
    runs = runs_around(occupied, np.cumsum(counts), last=m)
    kept = runs.bins > 0
    return Runs(runs.first[kept], runs.last[kept], runs.below[kept], runs.upto[kept])
