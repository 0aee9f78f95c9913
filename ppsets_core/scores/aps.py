"""`aps`: the probability of all classes at least as likely. Larger sets where the model is unsure."""

from dataclasses import dataclass

import numpy as np

from ppsets_core.scores.score import ClassScore


@dataclass(frozen=True)
class Aps(ClassScore):
    """The probability of the classes at least as likely, itself included; ties by class order. Not randomised."""

    name = "aps"

    def of_classes(self, probabilities: np.ndarray) -> np.ndarray:
        return accumulated(probabilities)


def accumulated(probabilities: np.ndarray, extra: np.ndarray | float = 0.0) -> np.ndarray:
    """For each class the sum of the probabilities down to its rank, at most 1; `extra` is added by rank."""
    order = np.argsort(-probabilities, axis=1, kind="stable")
    sums = np.take_along_axis(probabilities, order, axis=1).cumsum(axis=1)
    found = np.empty_like(sums)
    np.put_along_axis(found, order, np.minimum(sums, 1) + extra, axis=1)
    return found
