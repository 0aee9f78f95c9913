"""Random splits: shuffle, calibrate on n, evaluate on the rest, many times. For public data: it spends nothing."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ppsets_core.errors import InputError
from ppsets_core.inputs import read_table
from ppsets_core.method.bins import bin_index, limit, runs_around
from ppsets_core.method.plan import DIAGNOSIS, Plan, plan
from ppsets_core.method.release import draw_simulation
from ppsets_core.method.rules import DEFAULT
from ppsets_core.method.sets import conformal_rank
from ppsets_core.scores import LAC, Score, class_score
from ppsets_core.validation import check_n

Quantile = Callable[[np.ndarray, np.random.Generator], float]
"""Draws a threshold, given how many records of a split there are up to each, in the order of their scores."""


@dataclass(frozen=True)
class Setting:
    """One calibration to try; m* and γ* are chosen where they are not given. `per`: None, or "diagnosis"."""

    alpha: float
    epsilon: float
    method: str = DEFAULT
    m: int | None = None
    gamma: float | None = None
    per: str | None = None


@dataclass(frozen=True)
class Outcome:
    """One calibration per repetition, and how it did on the records left over."""

    threshold: np.ndarray  # (repetitions,), or (repetitions, K) where each diagnosis has its own
    coverage: np.ndarray
    mean_size: np.ndarray
    size_counts: np.ndarray  # (repetitions, K+1): sets with 0, 1, … K classes
    coverage_by_class: np.ndarray  # (repetitions, K); nan where no record of the class was left over


@dataclass(frozen=True)
class SplitResult:
    """Random splits, calibrated privately as planned and without privacy at the same α."""

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
    score: str | Score = LAC,
    half_precision: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> list[SplitResult]:
    """Simulate calibrations over random splits of public records; one result per setting, all on the same splits.

    Parameters
    ----------
    probabilities : one row per record, one column per class
    labels : the column number of each record's true class
    n : how many records of each split calibrate; the others are evaluated
    settings : rule, α, ε and the like of each calibration
    repetitions : number of splits
    rng : such as `numpy.random.default_rng(0)`
    score : which score; "lac" is 1 − p
    half_precision : whether probabilities were float16 before; an array of that type says so itself
    progress : called with splits done and their number; may raise to cancel
    """
    table = read_table(probabilities)
    probabilities, labels, half = table.values, table.labels(labels), half_precision or table.half_precision
    n, repetitions = check_n(n), check_n(repetitions)
    if n >= len(labels):
        raise InputError(f"Calibrating on {n} of {len(labels)} records leaves too few to evaluate on; use a smaller n.")
    records = _SortedRecords(class_score(score).of_classes(probabilities), labels)
    plans = [_plan(n, setting, probabilities.shape[1]) for setting in settings]
    exact = sorted({(chosen.alpha, chosen.per) for chosen in plans}, key=str)
    rules = [_Thresholds(records, chosen.per, partial(private_quantile, chosen=chosen)) for chosen in plans]
    rules += [_Thresholds(records, per, partial(nonprivate_quantile, alpha=alpha)) for alpha, per in exact]
    thresholds: list[list[np.ndarray]] = [[] for _ in rules]
    held_out = np.empty((repetitions, len(labels)), dtype=bool)
    for repetition in range(repetitions):
        held_out[repetition] = True
        held_out[repetition, rng.permutation(len(labels))[:n]] = False
        for rule, drawn in zip(rules, thresholds, strict=True):
            drawn.append(rule.draw(~held_out[repetition], rng))
        if progress:
            progress(repetition + 1, repetitions)
    outcomes = [records.evaluate(np.array(drawn), held_out, half) for drawn in thresholds]
    nonprivate = dict(zip(exact, outcomes[len(plans) :], strict=True))
    return [SplitResult(p, o, nonprivate[p.alpha, p.per]) for p, o in zip(plans, outcomes[: len(plans)], strict=True)]


def _plan(n: int, setting: Setting, classes: int) -> Plan:
    if setting.per not in (None, DIAGNOSIS):
        raise InputError("Random splits promise coverage for all together or for each diagnosis, not for groups.")
    return plan(n, classes=None if setting.per is None else classes, **vars(setting))


class _SortedRecords:
    """All records in order of their score, so that a split is a mask and its ranks are a running count."""

    def __init__(self, class_scores: np.ndarray, labels: np.ndarray) -> None:
        scores = class_scores[np.arange(len(labels)), labels]
        order = np.argsort(scores, kind="stable")
        self.scores, self.labels, self._class_scores = scores[order], labels[order], class_scores[order]
        self.classes = class_scores.shape[1]

    def evaluate(self, thresholds: np.ndarray, held_out: np.ndarray, half_precision: bool) -> Outcome:
        sizes = np.empty((len(thresholds), self.classes + 1), dtype=np.int64)
        covered, totals = (np.empty((len(thresholds), self.classes)) for _ in range(2))
        for repetition, (mask, limits) in enumerate(zip(held_out, limit(thresholds, half_precision), strict=True)):
            members = (self._class_scores <= limits).sum(axis=1)[mask]
            sizes[repetition] = np.bincount(members, minlength=self.classes + 1)
            inside = mask & (self.scores <= (limits if limits.ndim == 0 else limits[self.labels]))
            covered[repetition] = np.bincount(self.labels[inside], minlength=self.classes)
            totals[repetition] = np.bincount(self.labels[mask], minlength=self.classes)
        evaluated = sizes.sum(axis=1)
        with np.errstate(invalid="ignore"):
            by_class = covered / totals
        mean_size = sizes @ np.arange(self.classes + 1) / evaluated
        return Outcome(thresholds, covered.sum(axis=1) / evaluated, mean_size, sizes, by_class)


class _Thresholds:
    """What draws the threshold of a split, or one for each diagnosis from its own records."""

    def __init__(self, records: _SortedRecords, per: str | None, quantile: Callable[[np.ndarray], Quantile]) -> None:
        self._per = per
        numbers = range(records.classes if per else 0)
        self._where: list[Any] = [np.flatnonzero(records.labels == number) for number in numbers] or [slice(None)]
        self._quantiles = [quantile(records.scores[where]) for where in self._where]

    def draw(self, used: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        pairs = zip(self._where, self._quantiles, strict=True)
        drawn = np.array([quantile(np.cumsum(used[where]), rng) for where, quantile in pairs])
        return drawn if self._per else drawn[0]


def nonprivate_quantile(scores: np.ndarray, alpha: float) -> Quantile:
    """Ordinary split conformal."""

    def draw(ranks: np.ndarray, rng: np.random.Generator) -> float:
        n = _last(ranks)
        rank = conformal_rank(n, alpha)
        return scores[np.searchsorted(ranks, rank)] if rank <= n else 1.0

    return draw


def private_quantile(scores: np.ndarray, chosen: Plan) -> Quantile:
    """A plan's mechanism over the bins of some records: all, or those of one diagnosis, whose count differs."""
    bins, starts = np.unique(np.append(bin_index(scores, chosen.m), chosen.m), return_index=True)
    ends = np.append(starts[1:], len(scores)) - 1

    def draw(ranks: np.ndarray, rng: np.random.Generator) -> float:
        count = _last(ranks)
        mechanism = chosen.targets[0].mechanism(count, chosen.n)
        if mechanism is None:
            return 1.0
        runs = runs_around(bins, np.append(ranks, 0)[ends], chosen.m)
        return draw_simulation(mechanism, runs, count, rng) / chosen.m

    return draw


def _last(ranks: np.ndarray) -> int:
    return int(ranks[-1]) if len(ranks) else 0
