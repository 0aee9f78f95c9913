"""How a threshold does on labelled records: coverage with its exact interval, and set size."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ppsets_core.method.calibration import Drawn
from ppsets_core.method.intervals import clopper_pearson
from ppsets_core.method.sets import coverage_counts, prediction_sets
from ppsets_core.validation import check_labels


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
    singleton_share: float
    empty_share: float

    @property
    def records(self) -> int:
        return int(self.class_counts.sum())

    @property
    def covered(self) -> int:
        return round(self.coverage * self.records)

    @property
    def interval(self) -> tuple[float, float]:
        return clopper_pearson(self.covered, self.records)

    @property
    def interval_by_class(self) -> list[tuple[float, float]]:
        return _intervals(self.coverage_by_class, self.class_counts)

    @property
    def interval_by_size(self) -> list[tuple[float, float]]:
        return _intervals(self.coverage_by_size, self.size_counts)


def evaluate(
    probabilities: np.ndarray,
    labels: np.ndarray,
    calibration: Drawn | float,
    *,
    classes: Sequence[str] | None = None,
    groups: Sequence[str] | None = None,
) -> Evaluation:
    """Coverage and sizes of the sets that a calibration, or a bare threshold, cuts out of labelled records.

    >>> e = evaluate([[0.75, 0.25], [0.5, 0.5]], [1, 0], 0.5)
    >>> e.coverage, e.mean_size, e.size_counts.tolist()
    (0.5, 1.5, [0, 1, 1])
    """
    members = prediction_sets(probabilities, calibration, classes=classes, groups=groups)
    return evaluation_of(*coverage_counts(members, check_labels(labels, *members.shape)))


def evaluation_of(covered: np.ndarray, missed: np.ndarray) -> Evaluation:
    """The same from how many of each class (a row) had a set of each size (a column) with their class in it or not."""
    everyone = covered + missed
    by_class, by_size, records = everyone.sum(axis=1), everyone.sum(axis=0), int(everyone.sum())
    with np.errstate(invalid="ignore"):
        return Evaluation(
            coverage=int(covered.sum()) / records,
            mean_size=int(by_size @ np.arange(len(by_size))) / records,
            size_counts=by_size,
            class_counts=by_class,
            coverage_by_class=covered.sum(axis=1) / by_class,
            coverage_by_size=covered.sum(axis=0) / by_size,
            singleton_share=float(by_size[1] / records),
            empty_share=float(by_size[0] / records),
        )


def _intervals(shares: np.ndarray, counts: np.ndarray) -> list[tuple[float, float]]:
    return [clopper_pearson(round(share * n) if n else 0, int(n)) for share, n in zip(shares, counts, strict=True)]
