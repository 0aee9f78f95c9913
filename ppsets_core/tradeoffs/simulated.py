"""Simulated records: a made-up classifier whose probabilities are exactly right, for trials without any patient."""

import numpy as np

from ppsets_core.errors import InputError
from ppsets_core.tradeoffs.sweeps import Labelled

LARGEST = 100_000


def simulated_records(count: int, classes: int, signal: float, rng: np.random.Generator) -> Labelled:
    """Each record is Gaussian noise with `signal` added at its true class; the probabilities are its exact posterior.

    Calibrated by construction; a signal of 0 is guessing, of 2 right about nine times in ten with three classes.
    """
    if not 1 <= count <= LARGEST:
        raise InputError(f"Between 1 and {LARGEST:,} records can be simulated.")
    if not 2 <= classes <= 100:
        raise InputError("A classifier has between 2 and 100 classes.")
    if not 0 <= signal <= 10:
        raise InputError("The signal must lie between 0 and 10.")
    labels = rng.integers(classes, size=count)
    seen = rng.normal(size=(count, classes))
    seen[np.arange(count), labels] += signal
    weights = np.exp(signal * (seen - seen.max(axis=1, keepdims=True)))
    return Labelled(weights / weights.sum(axis=1, keepdims=True), labels)
