"""Labelled records for trials: public ones, or simulated ones that no patient is behind."""

from dataclasses import dataclass

import numpy as np

from ppsets_core.data import Records
from ppsets_core.errors import InputError
from ppsets_core.scores import LAC, ClassScore

GROUPS, ALIKE = 100, 10
TOP_1, TOP_5 = 0.783, 0.940  # ResNet-152, torchvision's first ImageNet weights
GROUP_SIGNAL, CLASS_SIGNAL = 3.1, 2.91


@dataclass(frozen=True, eq=False)
class Labelled:
    """Probabilities (N, K), class numbers (N,), whether they were stored as float16, and the score to calibrate."""

    probabilities: np.ndarray
    labels: np.ndarray
    half_precision: bool = False
    score: ClassScore = LAC

    @classmethod
    def of(cls, records: Records, score: ClassScore = LAC) -> "Labelled":
        if records.probabilities is None or records.labels is None:
            raise InputError(f"{records.source} has scores only; sets need a probability for each diagnosis.")
        return cls(records.probabilities, records.labels, records.half_precision, score)

    @property
    def scores(self) -> np.ndarray:
        return self.score.of_labels(self.probabilities, self.labels)

    def __len__(self) -> int:
        return len(self.labels)

    def top_accuracy(self, top: int = 1) -> float:
        """The share of records whose true class is among the `top` likeliest."""
        true = self.probabilities[np.arange(len(self)), self.labels]
        return float(((self.probabilities > true[:, None]).sum(axis=1) < top).mean())


def simulated_records(count: int, classes: int, signal: float, rng: np.random.Generator) -> Labelled:
    """A made-up classifier: each record is Gaussian noise with `signal` added at its true class, and its probabilities
    are the exact posterior.

    Calibrated by construction; a signal of 0 is guessing, of 2 right about nine times in ten with three classes.
    """
    labels = rng.integers(classes, size=count)
    seen = rng.normal(size=(count, classes))
    seen[np.arange(count), labels] += signal
    weights = np.exp(signal * (seen - seen.max(axis=1, keepdims=True)))
    return Labelled(weights / weights.sum(axis=1, keepdims=True), labels)


def simulated_imagenet(count: int, rng: np.random.Generator, chunk: int = 2000) -> Labelled:
    """A stand-in for ResNet-152 on ImageNet, with 1,000 classes and the network's published accuracy.

    Classes come in 100 groups of 10 that look alike. An image shows Gaussian noise for every group and for every class,
    with one signal added at its true group and another at its true class; its probabilities are the exact posterior, so
    they are calibrated as the paper's are after temperature scaling. Made a chunk at a time to keep memory low.
    """
    labels = rng.integers(GROUPS * ALIKE, size=count)
    probabilities = np.empty((count, GROUPS * ALIKE))
    for start in range(0, count, chunk):
        here = labels[start : start + chunk]
        group = _evidence(here // ALIKE, GROUPS, GROUP_SIGNAL, rng)
        logits = _evidence(here, GROUPS * ALIKE, CLASS_SIGNAL, rng) + np.repeat(group, ALIKE, axis=1)
        weights = np.exp(logits - logits.max(axis=1, keepdims=True))
        probabilities[start : start + chunk] = weights / weights.sum(axis=1, keepdims=True)
    return Labelled(probabilities, labels)


def _evidence(true: np.ndarray, classes: int, signal: float, rng: np.random.Generator) -> np.ndarray:
    """Log-likelihoods, up to a constant, of noise with `signal` added at the true class."""
    seen = rng.standard_normal((len(true), classes))
    seen[np.arange(len(true)), true] += signal
    return signal * seen
