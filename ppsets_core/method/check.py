"""Whether a promise holds on labelled patients: what was covered, exact intervals, and a verdict in plain words."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from ppsets_core.method.calibration import BaseCalibration
from ppsets_core.method.counts import CoverageCounts
from ppsets_core.method.plan import DIAGNOSIS

if TYPE_CHECKING:
    from ppsets_core.method.private_check import PrivateCheck

CONFIDENCE = 0.95
HOLDS, UNCLEAR, FAILS = "holds", "too few to tell", "does not hold"
MARGIN = 0.25  # "holds" leaves room for at most a quarter more misses than promised
FULL = "Every set holds every diagnosis, so the promise holds whoever is checked."
OWN_VIEW = "Not private: computed from the labels, at no cost in ε. Do not share it; release a private check instead."


def clopper_pearson(successes: int, trials: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """The exact two-sided interval of a share: it holds the true one with at least this confidence, whatever n.

    >>> [round(limit, 4) for limit in clopper_pearson(9, 10)]
    [0.555, 0.9975]
    """
    tail = (1 - confidence) / 2
    lower = beta_quantile(tail, successes, trials - successes + 1) if successes else 0.0
    upper = beta_quantile(1 - tail, successes + 1, trials - successes) if successes < trials else 1.0
    return lower, upper


def binomial_at_least(successes: int, trials: int, share: float) -> float:
    """P(X ≥ successes) for X binomial: how often so many or more would be seen by chance."""
    from scipy.special import betainc

    if successes <= 0:
        return 1.0
    return float(betainc(successes, trials - successes + 1, share)) if successes <= trials else 0.0


def beta_quantile(probability: float, a: float, b: float) -> float:
    """The value below which a Beta(a, b) variable lies with this probability."""
    from scipy.special import betaincinv

    return float(betaincinv(a, b, probability))


@dataclass(frozen=True)
class Evaluation:
    """Shares over the records evaluated, nan where a class or a size has no record; and exact 95% intervals.

    The intervals are Clopper and Pearson's, of the coverage among patients like these with this very threshold.
    """

    coverage: float
    mean_size: float
    size_counts: np.ndarray  # how many sets have 0, 1, … K classes
    class_counts: np.ndarray  # how many records are of each class
    coverage_by_class: np.ndarray
    coverage_by_size: np.ndarray

    @property
    def records(self) -> int:
        return int(self.class_counts.sum())

    @property
    def covered(self) -> int:
        return round(self.coverage * self.records)

    @property
    def interval(self) -> tuple[float, float]:
        return clopper_pearson(self.covered, self.records)


def evaluation_of(by_class: np.ndarray, by_size: np.ndarray) -> Evaluation:
    """Evaluate by how many of each class and of each size of set are covered and missed, two columns each."""
    class_counts, size_counts, records = by_class.sum(axis=1), by_size.sum(axis=1), int(by_class.sum())
    with np.errstate(invalid="ignore"):
        return Evaluation(
            coverage=int(by_class[:, 0].sum()) / records,
            mean_size=int(size_counts @ np.arange(len(size_counts))) / records,
            size_counts=size_counts,
            class_counts=class_counts,
            coverage_by_class=by_class[:, 0] / class_counts,
            coverage_by_size=by_size[:, 0] / size_counts,
        )


@dataclass(frozen=True)
class Line:
    """How many of some patients had their diagnosis in the set, the exact 95% interval of that share, a verdict."""

    name: str
    covered: int
    records: int
    interval: tuple[float, float]
    verdict: str

    @property
    def coverage(self) -> float:
        return self.covered / self.records if self.records else math.nan

    @property
    def share(self) -> str:
        low, high = self.interval
        return f"{100 * self.coverage:.1f}% (95% interval {100 * low:.1f}% to {100 * high:.1f}%)"


@dataclass(frozen=True)
class Check:
    """All patients, then those of each diagnosis, of each group that has a threshold of its own, and by set size."""

    evaluation: Evaluation
    overall: Line
    by_diagnosis: tuple[Line, ...]
    by_group: tuple[Line, ...]
    by_size: tuple[Line, ...]
    verdict: str
    words: str

    @property
    def single(self) -> Line:
        """The sets of one diagnosis, and how many of those were right."""
        return self.by_size[1]


def check_counts(counts: CoverageCounts) -> Check:
    """Judge a promise by counts."""
    calibration = counts.calibration
    found = evaluation_of(counts.by_class, counts.by_size)
    promise = Promise(calibration)

    def lines_of(names: Iterable[str], pairs: np.ndarray, *, promised: bool) -> tuple[Line, ...]:
        each = zip(names, pairs.tolist(), strict=True)
        return tuple(promise.line(name, pair[0], sum(pair), promised=promised) for name, pair in each)

    overall = promise.line("all together", found.covered, found.records, promised=calibration.per is None)
    by_diagnosis = lines_of(counts.classes, counts.by_class, promised=calibration.per == DIAGNOSIS)
    by_size = lines_of(map(str, range(len(counts.by_size))), counts.by_size, promised=False)
    by_group = lines_of(calibration.group_names, counts.by_group, promised=True)
    lines = {None: (overall,), DIAGNOSIS: by_diagnosis}.get(calibration.per, by_group)
    verdict, words = promise.sum_up(lines)
    if counts.labelled > len(counts):
        words += f" One record of each of {len(counts):,} patients is checked, of {counts.labelled:,} records."
    return Check(found, overall, by_diagnosis, by_group, by_size, verdict, words)


class Promise:
    """What a calibration promises, and when a share of covered patients speaks for or against it."""

    def __init__(self, calibration: BaseCalibration) -> None:
        self.calibration = calibration
        self.share = 1 - calibration.alpha
        self.parts = 1 if calibration.per is None else max(1, calibration.groups)

    @property
    def least_by_chance(self) -> float:
        """What one calibration of so many records may come to: the promise is an average over calibrations.

        The share that the k-th of n scores covers is Beta(k, n + 1 − k); this is its 2.5% quantile.
        """
        n = self.calibration.n // self.parts
        rank = math.ceil(self.share * (n + 1))
        return beta_quantile((1 - CONFIDENCE) / 2, rank, n + 1 - rank) if 1 <= rank <= n else 0.0

    @property
    def confidence(self) -> float:
        """Stricter where there are several promises, so that one of many is not found broken by chance."""
        return 1 - (1 - CONFIDENCE) / self.parts

    def line(self, name: str, covered: int, records: int, *, promised: bool) -> Line:
        """One line; without a promise about these patients it has no verdict."""
        verdict = self.judge(clopper_pearson(covered, records, self.confidence)) if promised else ""
        return Line(name, covered, records, clopper_pearson(covered, records), verdict)

    def judge(self, interval: tuple[float, float]) -> str:
        """By an interval for the share that is covered, of the confidence above."""
        low, high = interval
        if high < min(self.share, self.least_by_chance):
            return FAILS
        return HOLDS if low >= self.share - MARGIN * (1 - self.share) else UNCLEAR

    def judge_private(self, check: "PrivateCheck") -> list[str]:
        """A verdict on each count of a private check that something is promised about; '' for the others."""
        if check.per != self.calibration.per:
            return [""] * len(check.covered)
        return [self.judge(interval) for interval in check.intervals(self.confidence)]

    def sum_up(self, lines: Sequence[Line]) -> tuple[str, str]:
        """One verdict over every line that something is promised about, and its reason in a sentence or two."""
        if self.calibration.is_full:
            return HOLDS, FULL
        promised = f"{100 * self.share:.4g}% promised"
        of = "" if self.calibration.per is None else f" within each {self.calibration.per}"
        failed = [line for line in lines if line.verdict == FAILS]
        if failed:
            told = "; ".join(in_numbers(line, named=self.parts > 1) for line in failed[:3])
            more = f"; and {len(failed) - 3} more" if len(failed) > 3 else ""
            return FAILS, (
                f"The promise does not hold here: {told}{more}; {promised}{of}. These patients or the model behind "
                "their probabilities differ from the calibration's. Calibrate with patients like these."
            )
        unclear = [line for line in lines if line.verdict == UNCLEAR]
        if unclear:
            few = min(unclear, key=lambda line: line.records)
            if few.records and few.interval[1] < self.share:
                return UNCLEAR, (
                    f"Fewer are covered than promised, but one calibration of so few records may fall short by chance: "
                    f"{in_numbers(few, named=self.parts > 1)}; {promised}{of}. Calibrate with more records."
                )
            about = f" ({len(unclear)} of {len(lines)} are too few to tell)" if len(lines) > 1 else ""
            return UNCLEAR, (
                f"These are too few to tell whether the promise holds: {in_numbers(few, named=self.parts > 1)}; "
                f"{promised}{of}{about}. About {self.enough:,} labelled patients"
                f"{f' of each {self.calibration.per}' if self.parts > 1 else ''} would tell."
            )
        told = in_numbers(min(lines, key=lambda line: line.coverage), named=self.parts > 1)
        return HOLDS, f"The promise holds here: {'at worst ' if self.parts > 1 else ''}{told}; {promised}{of}."

    @property
    def enough(self) -> int:
        """How many patients make the interval narrow enough to say that it holds, rounded to a number to remember."""
        miss = 1 - self.share
        deviations = NormalDist().inv_cdf((1 + self.confidence) / 2)
        exact = (deviations / MARGIN) ** 2 * (1 - miss) / miss
        return math.ceil(exact / 10 ** (digits := len(f"{exact:.0f}") - 1)) * 10**digits


def in_numbers(line: Line, *, named: bool = False) -> str:
    """How many of how many, the share and its interval."""
    name = f"for {line.name}, " if named else ""
    if not line.records:
        return f"{name}no patient to check with"
    return f"{name}the true diagnosis is in {line.covered:,} of {line.records:,} sets, {line.share}"
