"""How good a classifier's probabilities are: accuracy, recalls, confusion, reliability. Needs no torch."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ppsets_core.data.bundled import bundled_scores
from ppsets_core.errors import InputError

RELIABILITY_BINS = 15


@dataclass(frozen=True)
class Epoch:
    """One epoch of training; accuracy and recall on the X-rays held out by patient (NaN without any)."""

    epoch: int
    epochs: int
    loss: float
    accuracy: float
    macro_recall: float


Watcher = Callable[[Epoch], None]


@dataclass(frozen=True)
class ReliabilityBin:
    """The X-rays whose likeliest class has about one probability: what was claimed and what came true."""

    count: int
    confidence: float
    accuracy: float


@dataclass(frozen=True, eq=False)
class ModelReport:
    """`confusion[i, j]` counts X-rays of class i taken for class j. Recalls of classes that do not occur are NaN."""

    n: int
    accuracy: float
    macro_recall: float
    recalls: tuple[float, ...]
    confusion: np.ndarray
    calibration_error: float
    reliability: tuple[ReliabilityBin, ...]


def report(probabilities: np.ndarray, labels: np.ndarray) -> ModelReport:
    """Measure probabilities (N, K) against class numbers (N,). The calibration error is the expected one, 15 bins."""
    if len(labels) == 0 or len(labels) != len(probabilities):
        raise InputError(
            f"{len(probabilities)} rows of probabilities and {len(labels)} labels: give one label per row."
        )
    classes = probabilities.shape[1]
    chosen = probabilities.argmax(axis=1)
    confusion = np.zeros((classes, classes), dtype=int)
    np.add.at(confusion, (labels, chosen), 1)
    occurring = confusion.sum(axis=1)
    recalls = np.where(occurring > 0, confusion.diagonal() / np.maximum(occurring, 1), np.nan)
    reliability = _reliability(probabilities.max(axis=1), chosen == labels)
    return ModelReport(
        n=len(labels),
        accuracy=float((chosen == labels).mean()),
        macro_recall=float(np.nanmean(recalls)),
        recalls=tuple(recalls.tolist()),
        confusion=confusion,
        calibration_error=sum(b.count * abs(b.accuracy - b.confidence) for b in reliability) / len(labels),
        reliability=reliability,
    )


def _reliability(confidence: np.ndarray, right: np.ndarray) -> tuple[ReliabilityBin, ...]:
    bins = np.clip(np.ceil(confidence * RELIABILITY_BINS).astype(int) - 1, 0, RELIABILITY_BINS - 1)
    return tuple(
        ReliabilityBin(int(own.sum()), float(confidence[own].mean()), float(right[own].mean()))
        for own in (bins == number for number in np.unique(bins))
    )


def bundled_report() -> tuple[ModelReport, tuple[str, ...]]:
    """The report on the bundled scores, and the classes."""
    records = bundled_scores()
    assert records.probabilities is not None
    assert records.labels is not None
    return report(records.probabilities, records.labels), records.classes
