"""The exact privacy loss of a mechanism: the largest change of log-probability over data sets and their neighbours.

And the one mechanism that loses more than it says: that of the paper's public research code.
"""

from dataclasses import dataclass
from itertools import permutations

import numpy as np

from ppsets_core.method.bins import Runs
from ppsets_core.method.rules.mechanism import Mechanism, log_weights
from ppsets_core.method.rules.paper import PaperQuantile


def loss_of_all(mechanism: Mechanism, n: int, m: int) -> float:
    """Over every data set of n records in m bins and every replacement of one record; for small n and m."""
    return _largest_loss(mechanism, n, tuple(range(1, m + 1)), m)


def loss_at_three_scores(mechanism: Mechanism, n: int, m: int) -> float:
    """Over every data set whose n records take at most three scores, at both ends and the middle of [0, 1] or next to
    an end, and every replacement among them: a few million pairs that come close to the worst of all."""
    places = {(1, m // 2, m), (1, 2, m), (1, m - 1, m)}
    return max(_largest_loss(mechanism, n, three, m) for three in places)


def _largest_loss(mechanism: Mechanism, n: int, places: tuple[int, ...], m: int) -> float:
    """Records may lie in the bins `places`, which begin with bin 1."""
    counts = _all_counts(n, len(places))
    logs = _log_laws(mechanism, counts, np.array(places), n, m)
    digits = (n + 1) ** np.arange(len(places))[::-1]
    keys = counts @ digits
    loss = 0.0
    for a, b in permutations(range(len(places)), 2):
        movable = np.flatnonzero(counts[:, a])
        neighbours = np.searchsorted(keys, keys[movable] - digits[a] + digits[b])
        loss = max(loss, float(np.abs(logs[movable] - logs[neighbours]).max()))
    return loss


def _all_counts(n: int, places: int) -> np.ndarray:
    """Every way to put n records at so many places, in lexicographic order."""
    if places == 1:
        return np.array([[n]])
    if places == 2:
        return np.column_stack([np.arange(n + 1), np.arange(n, -1, -1)])
    parts = []
    for first in range(n + 1):
        rest = _all_counts(n - first, places - 1)
        parts.append(np.column_stack([np.full(len(rest), first), rest]))
    return np.concatenate(parts)


def _log_laws(mechanism: Mechanism, counts: np.ndarray, places: np.ndarray, n: int, m: int) -> np.ndarray:
    """log P(ŝ = e_j), one row per data set; one column per place, and one for the alike bins between it and the next.

    Logarithms throughout, as a mechanism that is not private may make a bin all but impossible.
    """
    between = np.append(places[1:], m + 1) - places - 1
    kept = np.flatnonzero(between)
    bins = np.append(np.ones(len(places), dtype=int), between[kept])
    upto = np.cumsum(counts, axis=1)
    below = np.hstack([upto - counts, upto[:, kept]])
    edges = np.broadcast_to(np.append(places, places[kept] + 1), below.shape)
    weights = log_weights(mechanism, Runs(edges, edges, below, np.hstack([upto, upto[:, kept]]), m), n)
    return weights - np.log(np.exp(weights) @ bins)[:, None]


@dataclass(frozen=True)
class ResearchQuantile(PaperQuantile):
    """P(ŝ = e_j) ∝ exp(−ε·min(α,1−α)·w_j/2): the research code's α where the proof has the level q, nearer to 1.

    For audits only: it is not private at the ε it is given. See docs/method.md#the-papers-rule.
    """

    alpha: float = 0.1

    def log_weight(self, below: np.ndarray, upto: np.ndarray, n: int) -> np.ndarray:
        ranks_off = np.maximum(below / self.level, (n - upto) / (1 - self.level))
        return -self.epsilon / 2 * min(self.alpha, 1 - self.alpha) * ranks_off
