"""`cqr`: how far a number lies outside two predicted quantiles, conformalised quantile regression."""

from dataclasses import dataclass

import numpy as np

from ppsets_core.scores.score import IntervalScore


@dataclass(frozen=True)
class Cqr(IntervalScore):
    """v = max(lower − y, y − upper); (v + bound) / (2 · bound), cut to [0, 1].

    The interval is [lower − v, upper + v] with v = (2ŝ − 1) · bound; ŝ = 1 gives the whole line.
    """

    name = "cqr"
    columns = 2

    def of_truth(self, predictions: np.ndarray, truth: np.ndarray) -> np.ndarray:
        lower, upper = predictions.T
        return np.clip((np.maximum(lower - truth, truth - upper) + self.bound) / (2 * self.bound), 0, 1)

    def margin(self, limits: np.ndarray) -> np.ndarray:
        return (2 * limits - 1) * self.bound
