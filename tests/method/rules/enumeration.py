"""Every data set of a few records in a few bins, and what the real mechanism makes of it."""

import itertools
from fractions import Fraction
from functools import cache

import numpy as np

from ppsets_core.method.bins import Runs
from ppsets_core.method.rules.mechanism import run_probabilities
from ppsets_core.method.rules.sharp import RankQuantile
from ppsets_core.method.rules.sharp.bound import RHO

WHOLE = Fraction(1)


@cache
def data_sets(n: int, m: int) -> np.ndarray:
    """Every way to put n records in m bins, one row each."""
    bars = np.array(list(itertools.combinations(range(n + m - 1), m - 1)), dtype=np.int64)
    ends = np.hstack([np.full((len(bars), 1), -1), bars, np.full((len(bars), 1), n + m - 1)])
    return np.diff(ends, axis=1) - 1


@cache
def neighbours(n: int, m: int) -> np.ndarray:
    """All pairs of those rows that differ by one record put elsewhere, as two rows of their numbers."""
    rows = data_sets(n, m).tolist()
    index = {tuple(row): i for i, row in enumerate(rows)}
    pairs = []
    for i, row in enumerate(rows):
        for a, b in itertools.permutations(range(m), 2):
            if row[a]:
                pairs.append((i, index[tuple(c - (j == a) + (j == b) for j, c in enumerate(row))]))
    return np.array(pairs).T


def runs_of_counts(counts: np.ndarray) -> Runs:
    """Every bin a run of its own; the last is the top one."""
    m = counts.shape[-1]
    edges, upto = np.broadcast_to(np.arange(1, m + 1), counts.shape), np.cumsum(counts, axis=-1)
    return Runs(edges, edges, upto - counts, upto, m)


def law_of_counts(counts: np.ndarray, rank: int, epsilon: float, share: Fraction = WHOLE) -> np.ndarray:
    """P(ŝ = e_j) for every bin, by the sharp rule's mechanism; all rows have equally many records."""
    n = int(counts.reshape(-1, counts.shape[-1])[0].sum())
    return run_probabilities(RankQuantile(rank, epsilon, RHO, share), runs_of_counts(counts), n)


def integers_of_counts(
    counts: np.ndarray, rank: int, epsilon: float, share: Fraction = WHOLE
) -> tuple[np.ndarray, float]:
    """What goes to OpenDP."""
    n = int(counts.reshape(-1, counts.shape[-1])[0].sum())
    return RankQuantile(rank, epsilon, RHO, share).exact_scores(runs_of_counts(counts), n)
