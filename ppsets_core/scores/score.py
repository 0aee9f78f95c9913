"""What a score is: a fixed public function into [0, 1]; small where the model's answer fits the truth."""

from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np

from ppsets_core.errors import InputError
from ppsets_core.validation import check_real


@dataclass(frozen=True)
class Score:
    """The fields of a score are its parameters: public, and fixed before the records are seen."""

    name: ClassVar[str]

    def document(self) -> dict[str, Any]:
        """The name and the parameters, for JSON."""
        return {"name": self.name, **asdict(self)}

    def __str__(self) -> str:
        told = ", ".join(f"{name} = {value:g}" for name, value in asdict(self).items())
        return f"{self.name} ({told})" if told else self.name


@dataclass(frozen=True)
class ClassScore(Score):
    """A score of each class, from a model's probabilities. A set holds the classes whose score is at most ŝ."""

    def of_classes(self, probabilities: np.ndarray) -> np.ndarray:
        """The score of every class for every record, (N, K)."""
        raise NotImplementedError

    def of_labels(self, probabilities: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """The score of each record's true class, given as a column number."""
        return self.of_classes(probabilities)[np.arange(len(labels)), labels]


@dataclass(frozen=True)
class IntervalScore(Score):
    """A score of a number that a model predicts; `bound` is public, and ŝ = 1 means the whole line.

    bound: the largest distance; larger ones count as this one.
    """

    columns: ClassVar[int]
    bound: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "bound", check_positive(self.bound, "bound"))

    def of_truth(self, predictions: np.ndarray, truth: np.ndarray) -> np.ndarray:
        """The score of each record's true number."""
        raise NotImplementedError

    def margin(self, limits: np.ndarray) -> np.ndarray:
        """How far an interval reaches beyond the prediction, for scores up to these limits below 1."""
        raise NotImplementedError

    def check_predictions(self, predictions: np.ndarray) -> np.ndarray:
        """Predictions as (N,), or as (N, 2) where the score needs a lower and an upper quantile."""
        shape = f"(N, {self.columns})" if self.columns > 1 else "(N,)"
        if predictions.ndim != (2 if self.columns > 1 else 1) or predictions.shape[1:] not in ((), (self.columns,)):
            raise InputError(f"The score '{self.name}' needs predictions of shape {shape}.")
        if not np.isfinite(predictions).all():
            raise InputError("A prediction is missing or not a finite number.")
        return predictions


@dataclass(frozen=True)
class Own(Score):
    """Somebody's own score, of which only the numbers are known: it gives a threshold and no sets."""

    name = "own"


OWN = Own()


def check_positive(value: float, name: str) -> float:
    """A finite number above 0."""
    number = check_real(value, name)
    if not 0 < number < np.inf:
        raise InputError(f"{name} must be a finite number above 0, fixed before the records are seen.")
    return number
