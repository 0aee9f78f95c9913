"""Labelled records for trials: public ones, or simulated ones that no patient is behind."""

from dataclasses import dataclass

import numpy as np

from ppsets_core.data import Records
from ppsets_core.errors import InputError

MOST_SIMULATED = 100_000


@dataclass(frozen=True, eq=False)
class Labelled:
    """Probabilities (N, K) and class numbers (N,)."""

    probabilities: np.ndarray
    labels: np.ndarray

    @classmethod
    def of(cls, records: Records) -> "Labelled":
        if records.probabilities is None or records.labels is None:
            raise InputError(f"{records.source} has scores only; sets need a probability for each diagnosis.")
        return cls(records.probabilities, records.labels)

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
    if not 1 <= count <= MOST_SIMULATED:
        raise InputError(f"Between 1 and {MOST_SIMULATED:,} records can be simulated.")
    if not 2 <= classes <= 100:
        raise InputError("A classifier has between 2 and 100 classes.")
    if not 0 <= signal <= 10:
        raise InputError("The signal must lie between 0 and 10.")
    labels = rng.integers(classes, size=count)
    seen = rng.normal(size=(count, classes))
    seen[np.arange(count), labels] += signal
    weights = np.exp(signal * (seen - seen.max(axis=1, keepdims=True)))
    return Labelled(weights / weights.sum(axis=1, keepdims=True), labels)
