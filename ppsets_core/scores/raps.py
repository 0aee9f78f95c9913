"""`raps`: `aps` with a penalty for low ranks, so that the largest sets are smaller."""

from dataclasses import dataclass

import numpy as np

from ppsets_core.errors import InputError
from ppsets_core.scores.aps import accumulated
from ppsets_core.scores.score import ClassScore, check_positive
from ppsets_core.validation import check_whole


@dataclass(frozen=True)
class Raps(ClassScore):
    """(aps + penalty · max(0, rank − free_ranks)) / (1 + penalty · max(0, K − free_ranks)), K the number of classes.

    penalty: λ, for each rank beyond the free ones.
    free_ranks: k₀, how many of the likeliest classes are not penalised.
    """

    name = "raps"
    penalty: float = 0.05
    free_ranks: int = 2

    def __post_init__(self) -> None:
        object.__setattr__(self, "penalty", check_positive(self.penalty, "penalty"))
        if not 0 <= check_whole(self.free_ranks, "free_ranks") <= 10_000:
            raise InputError("free_ranks must be 0 or a small whole number.")

    def of_classes(self, probabilities: np.ndarray) -> np.ndarray:
        beyond = self.penalty * np.maximum(np.arange(1, probabilities.shape[1] + 1) - self.free_ranks, 0)
        return accumulated(probabilities, beyond) / (1 + beyond[-1])
