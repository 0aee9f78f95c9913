"""`lac`: 1 − the probability of the class. The smallest sets on average."""

from dataclasses import dataclass

import numpy as np

from ppsets_core.scores.score import ClassScore


@dataclass(frozen=True)
class Lac(ClassScore):
    """1 − p."""

    name = "lac"

    def of_classes(self, probabilities: np.ndarray) -> np.ndarray:
        return 1 - probabilities

    def of_labels(self, probabilities: np.ndarray, labels: np.ndarray) -> np.ndarray:
        return 1 - probabilities[np.arange(len(labels)), labels]


LAC = Lac()
