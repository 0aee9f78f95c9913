"""What sets to expect of a plan, before there is any data: on public records, over many calibrations drawn from them.

Calibration records are drawn with replacement, so that n may exceed the public data set. Given them, the law of ŝ is
known exactly and is averaged over, not drawn from; so a few hundred repetitions leave a small margin.
"""

from dataclasses import dataclass

import numpy as np

from ppsets_core.explore.labelled import Labelled
from ppsets_core.method.bins import Runs, bin_index, runs_around
from ppsets_core.method.nonprivate import conformal_rank
from ppsets_core.method.plan import Plan
from ppsets_core.method.rules.mechanism import run_probabilities
from ppsets_core.method.sets import conformity_scores


@dataclass(frozen=True, eq=False)
class ExpectedSets:
    """Means over the calibrations; `margin` is the half-width of a 95% interval for the mean size."""

    mean_size: float
    margin: float
    coverage: float
    coverage_by_class: np.ndarray


def expected_sets(records: Labelled, chosen: Plan, rng: np.random.Generator, repetitions: int = 200) -> ExpectedSets:
    """With the private threshold, or thresholds, of the plan."""
    curves = _curves(records, chosen.m)
    if chosen.is_trivial:
        return _summed(np.ones((1, curves.classes, 2)), curves)
    draw = _laws_together if chosen.per is None else _laws_for_each
    return _summed(draw(curves, chosen, rng, repetitions), curves)


def nonprivate_sets(
    records: Labelled, n: int, alpha: float, rng: np.random.Generator, *, each: bool = False, repetitions: int = 200
) -> ExpectedSets:
    """With ordinary split conformal, for all together or for each diagnosis."""
    curves = _curves(records, None)
    found = []
    for _ in range(repetitions):
        picked = rng.integers(len(curves.scores), size=n)
        parts = [picked[curves.labels[picked] == c] for c in range(curves.classes)] if each else [picked]
        thresholds = [_conformal(np.sort(curves.scores[part]), alpha) for part in parts]
        found.append([curves.at(c, thresholds[c if each else 0]) for c in range(curves.classes)])
    return _summed(np.array(found), curves)


def _conformal(scores: np.ndarray, alpha: float) -> float:
    rank = conformal_rank(len(scores), alpha)
    return float(scores[rank - 1]) if rank <= len(scores) else 1.0


@dataclass(frozen=True, eq=False)
class _Curves:
    """For each class, how many records have it in their set, and how many of its own, at any threshold."""

    scores: np.ndarray
    labels: np.ndarray
    members: tuple[np.ndarray, ...]  # the sorted scores of each class over all records
    own: tuple[np.ndarray, ...]  # the sorted scores of each class's own records
    m: int | None

    @property
    def classes(self) -> int:
        return len(self.members)

    def at(self, number: int, threshold: float | np.ndarray) -> np.ndarray:
        """(share of all records with the class in their set, share of its own records covered)."""
        shares = [
            np.searchsorted(values, threshold, side="right") / max(1, len(values))
            for values in (self.members[number], self.own[number])
        ]
        return np.stack(shares, axis=-1)

    def over_runs(self, number: int, runs: Runs) -> np.ndarray:
        """The same, averaged over the edges of each run of bins."""
        assert self.m is not None
        shares = []
        for values in (self.members[number], self.own[number]):
            joined = np.cumsum(np.bincount(bin_index(values, self.m), minlength=self.m + 1))
            upto = np.cumsum(joined)
            summed = upto[runs.last] - upto[runs.first - 1]
            shares.append(summed / np.maximum(runs.bins, 1) / max(1, len(values)))
        return np.stack(shares, axis=-1)


def _curves(records: Labelled, m: int | None) -> _Curves:
    scores = conformity_scores(records.probabilities, records.labels)
    class_scores = 1 - records.probabilities
    numbers = range(class_scores.shape[1])
    members = tuple(np.sort(class_scores[:, c]) for c in numbers)
    own = tuple(np.sort(scores[records.labels == c]) for c in numbers)
    return _Curves(scores, records.labels, members, own, m)


def _laws_together(curves: _Curves, chosen: Plan, rng: np.random.Generator, repetitions: int) -> np.ndarray:
    """(repetitions, classes, 2): E over ŝ of what `_Curves.at` tells."""
    runs = _sampled_runs(curves.scores, chosen.n, chosen.m, rng, repetitions)
    law = run_probabilities(chosen.mechanism, runs, chosen.n)
    parts = [np.einsum("rj,rjk->rk", law, curves.over_runs(c, runs)) for c in range(curves.classes)]
    return np.stack(parts, axis=1)


def _laws_for_each(curves: _Curves, chosen: Plan, rng: np.random.Generator, repetitions: int) -> np.ndarray:
    """The same where every diagnosis has a threshold of its own, from as many records as chance gives it."""
    shares = np.bincount(curves.labels, minlength=curves.classes) / len(curves.labels)
    counts = rng.multinomial(chosen.n, shares, size=repetitions)
    found = np.empty((repetitions, curves.classes, 2))
    for c in range(curves.classes):
        for count in np.unique(counts[:, c]):
            these = np.flatnonzero(counts[:, c] == count)
            runs = _sampled_runs(curves.own[c], int(count), chosen.m, rng, len(these))
            law = run_probabilities(chosen.mechanism_for(int(count)), runs, int(count))
            found[these, c] = np.einsum("rj,rjk->rk", law, curves.over_runs(c, runs))
    return found


def _sampled_runs(scores: np.ndarray, n: int, m: int, rng: np.random.Generator, repetitions: int) -> Runs:
    """The runs of many data sets of n of these scores, drawn with replacement; some may be empty."""
    bins, counts = np.unique(np.append(bin_index(scores, m), m), return_counts=True)
    counts[-1] -= 1
    chances = counts / counts.sum() if counts.sum() else np.ones(len(counts)) / len(counts)
    drawn = rng.multinomial(n, chances, size=repetitions)
    around = runs_around(np.broadcast_to(bins, drawn.shape), np.cumsum(drawn, axis=1), last=m)
    return Runs(around.first, around.last, around.below, around.upto, m)


def _summed(found: np.ndarray, curves: _Curves) -> ExpectedSets:
    sizes, covered = found[..., 0].sum(axis=1), found[..., 1]
    shares = np.bincount(curves.labels, minlength=curves.classes) / len(curves.labels)
    error = sizes.std(ddof=1) / np.sqrt(len(sizes)) if len(sizes) > 1 else 0.0
    by_class = covered.mean(axis=0)
    return ExpectedSets(float(sizes.mean()), float(1.96 * error), float(by_class @ shares), by_class)
