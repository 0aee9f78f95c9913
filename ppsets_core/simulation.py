"""Random splits: shuffle, calibrate on n, evaluate on the rest, many times. For public data: it spends nothing."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ppsets_core.bins import bin_index, runs_around
from ppsets_core.errors import InputError
from ppsets_core.mechanism import reach
from ppsets_core.planning import Plan, plan
from ppsets_core.sampling import draw_simulation
from ppsets_core.sets import conformity_scores
from ppsets_core.split_conformal import conformal_rank
from ppsets_core.validation import check_labels, check_n, check_probabilities


@dataclass(frozen=True)
class Setting:
    """One calibration to try; m* and γ* are chosen where they are not given."""

    alpha: float
    epsilon: float
    method: str = "paper"
    m: int | None = None
    gamma: float | None = None


@dataclass(frozen=True)
class Outcome:
    """One threshold a repetition, and how it did on the records left over."""

    threshold: np.ndarray
    coverage: np.ndarray
    mean_size: np.ndarray
    size_counts: np.ndarray  # (repetitions, K+1): sets with 0, 1, … K classes


@dataclass(frozen=True)
class SplitResult:
    """The same random splits, calibrated privately as planned and without privacy at the same α."""

    plan: Plan
    private: Outcome
    nonprivate: Outcome


def random_splits(
    probabilities: np.ndarray,
    labels: np.ndarray,
    n: int,
    settings: Sequence[Setting],
    repetitions: int,
    rng: np.random.Generator,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> list[SplitResult]:
    """One result a setting, over `repetitions` splits that all settings share. `progress` may raise to cancel."""
    probabilities = check_probabilities(probabilities)
    labels = check_labels(labels, *probabilities.shape)
    n, repetitions = check_n(n), check_n(repetitions)
    if n >= len(labels):
        raise InputError(f"Calibrating on {n} of {len(labels)} records leaves too few to evaluate on; use a smaller n.")
    records = _SortedRecords(probabilities, labels)
    plans = [plan(n, s.alpha, s.epsilon, method=s.method, m=s.m, gamma=s.gamma) for s in settings]
    quantiles = [_PrivateQuantile(records, chosen) for chosen in plans]
    alphas = sorted({chosen.alpha for chosen in plans})
    thresholds = np.empty((repetitions, len(plans) + len(alphas)))
    held_out = np.empty((repetitions, len(labels)), dtype=bool)
    for repetition in range(repetitions):
        held_out[repetition] = True
        held_out[repetition, rng.permutation(len(labels))[:n]] = False
        ranks = np.cumsum(~held_out[repetition])
        private = [quantile.draw(ranks, rng) for quantile in quantiles]
        thresholds[repetition] = private + [records.nonprivate(ranks, alpha) for alpha in alphas]
        if progress:
            progress(repetition + 1, repetitions)
    outcomes = [records.evaluate(column, held_out) for column in thresholds.T]
    nonprivate = dict(zip(alphas, outcomes[len(plans) :], strict=True))
    return [SplitResult(p, o, nonprivate[p.alpha]) for p, o in zip(plans, outcomes[: len(plans)], strict=True)]


class _SortedRecords:
    """All records in order of their score, so that a split is a mask and its ranks are a running count."""

    def __init__(self, probabilities: np.ndarray, labels: np.ndarray) -> None:
        scores = conformity_scores(probabilities, labels)
        order = np.argsort(scores, kind="stable")
        self.scores, self._class_scores = scores[order], 1 - probabilities[order]

    def nonprivate(self, ranks: np.ndarray, alpha: float) -> float:
        rank = conformal_rank(int(ranks[-1]), alpha)
        return float(self.scores[np.searchsorted(ranks, rank)]) if rank <= ranks[-1] else 1.0

    def evaluate(self, thresholds: np.ndarray, held_out: np.ndarray) -> Outcome:
        """Visit the thresholds in ascending order; between two of them only the classes in between join any set."""
        repetitions, classes = len(thresholds), self._class_scores.shape[1]
        lowest = thresholds.min()
        sizes = (self._class_scores <= lowest).sum(axis=1)
        record, column = np.nonzero((self._class_scores > lowest) & (self._class_scores <= thresholds.max()))
        joins = self._class_scores[record, column]
        by_score = np.argsort(joins)
        record, joins = record[by_score], joins[by_score]
        counts = np.empty((repetitions, classes + 1), dtype=np.int64)
        covered = np.empty(repetitions)
        joined = 0
        for repetition in np.argsort(thresholds):
            upto = np.searchsorted(joins, thresholds[repetition], side="right")
            np.add.at(sizes, record[joined:upto], 1)
            joined = upto
            counts[repetition] = np.bincount(sizes[held_out[repetition]], minlength=classes + 1)
            inside = np.searchsorted(self.scores, thresholds[repetition], side="right")
            covered[repetition] = np.count_nonzero(held_out[repetition, :inside])
        evaluated = counts.sum(axis=1)
        return Outcome(thresholds, covered / evaluated, counts @ np.arange(classes + 1) / evaluated, counts)


class _PrivateQuantile:
    """A plan's mechanism over the records' bins, looking only at the bins within reach of its target."""

    def __init__(self, records: _SortedRecords, chosen: Plan) -> None:
        self._plan = chosen
        if chosen.is_trivial:
            return
        self._bins, starts = np.unique(bin_index(records.scores, chosen.m), return_index=True)
        self._ends = np.append(starts[1:], len(records.scores)) - 1
        self._low, self._high = reach(chosen.mechanism, chosen.n, chosen.m)

    def draw(self, ranks: np.ndarray, rng: np.random.Generator) -> float:
        if self._plan.is_trivial:
            return 1.0
        n, m = self._plan.n, self._plan.m
        first = np.searchsorted(self._ends, np.searchsorted(ranks, self._low))
        last = min(np.searchsorted(self._ends, np.searchsorted(ranks, self._high, side="right")) + 1, len(self._bins))
        upto = ranks[self._ends[first:last]]
        runs = runs_around(
            self._bins[first:last],
            upto,
            before=ranks[self._ends[first - 1]] if first else 0,
            first=self._bins[first - 1] + 1 if first else 1,
            last=self._bins[last] - 1 if last < len(self._bins) else m,
        )
        return draw_simulation(self._plan.mechanism, runs, n, rng) / m
