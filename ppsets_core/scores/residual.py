"""`residual`: the distance of a number from its prediction, as a share of a public bound."""

from dataclasses import dataclass

import numpy as np

from ppsets_core.scores.score import IntervalScore


@dataclass(frozen=True)
class Residual(IntervalScore):
    """min(|y − ŷ| / bound, 1). The interval is ŷ ± ŝ · bound; ŝ = 1 gives the whole line."""

    name = "residual"
    columns = 1

    def of_truth(self, predictions: np.ndarray, truth: np.ndarray) -> np.ndarray:
        return np.minimum(np.abs(truth - predictions) / self.bound, 1)

    def margin(self, limits: np.ndarray) -> np.ndarray:
        return limits * self.bound
