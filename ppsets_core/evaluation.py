"""How a threshold does on labelled records: coverage and set size."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ppsets_core.calibration import Drawn
from ppsets_core.sets import prediction_sets
from ppsets_core.validation import check_labels


@dataclass(frozen=True)
class Evaluation:
    """Shares over the records evaluated; nan where a class or a size has no record."""

    coverage: float
    mean_size: float
    size_counts: np.ndarray  # how many sets have 0, 1, … K classes
    coverage_by_class: np.ndarray
    coverage_by_size: np.ndarray
    singleton_share: float
    empty_share: float


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
    records, number = members.shape
    labels = check_labels(labels, records, number)
    covered = members[np.arange(records), labels]
    sizes = members.sum(axis=1)
    counts = np.bincount(sizes, minlength=number + 1)
    return Evaluation(
        coverage=float(covered.mean()),
        mean_size=float(sizes.mean()),
        size_counts=counts,
        coverage_by_class=_mean_by(labels, covered, number),
        coverage_by_size=_mean_by(sizes, covered, number + 1),
        singleton_share=float(counts[1] / records),
        empty_share=float(counts[0] / records),
    )


def _mean_by(group: np.ndarray, values: np.ndarray, groups: int) -> np.ndarray:
    counts = np.bincount(group, minlength=groups)
    with np.errstate(invalid="ignore"):
        return np.bincount(group, weights=values, minlength=groups) / counts
