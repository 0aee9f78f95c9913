"""Conformity scores by name: fixed public functions into [0, 1], small where a model's answer fits the truth."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar

import numpy as np

from ppsets_core.errors import InputError
from ppsets_core.validation import check_real, check_whole


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
class Lac(ClassScore):
    """1 − p. The smallest sets on average."""

    name = "lac"

    def of_classes(self, probabilities: np.ndarray) -> np.ndarray:
        return 1 - probabilities

    def of_labels(self, probabilities: np.ndarray, labels: np.ndarray) -> np.ndarray:
        return 1 - probabilities[np.arange(len(labels)), labels]


LAC = Lac()


@dataclass(frozen=True)
class Aps(ClassScore):
    """The probability of the classes at least as likely, itself included; ties by class order. Not randomised.

    Larger sets where the model is unsure.
    """

    name = "aps"

    def of_classes(self, probabilities: np.ndarray) -> np.ndarray:
        return _accumulated(probabilities)


@dataclass(frozen=True)
class Raps(ClassScore):
    """`aps` with a penalty for low ranks, so that the largest sets are smaller.

    (aps + penalty · max(0, rank − free_ranks)) / (1 + penalty · max(0, K − free_ranks)), K the number of classes.
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
        return _accumulated(probabilities, beyond) / (1 + beyond[-1])


@dataclass(frozen=True)
class Residual(IntervalScore):
    """The distance from the prediction as a share of a public bound: min(|y − ŷ| / bound, 1).

    The interval is ŷ ± ŝ · bound; ŝ = 1 gives the whole line.
    """

    name = "residual"
    columns = 1

    def of_truth(self, predictions: np.ndarray, truth: np.ndarray) -> np.ndarray:
        return np.minimum(np.abs(truth - predictions) / self.bound, 1)

    def margin(self, limits: np.ndarray) -> np.ndarray:
        return limits * self.bound


@dataclass(frozen=True)
class Cqr(IntervalScore):
    """Conformalised quantile regression: v = max(lower − y, y − upper); (v + bound) / (2 · bound), cut to [0, 1].

    The interval is [lower − v, upper + v] with v = (2ŝ − 1) · bound; ŝ = 1 gives the whole line.
    """

    name = "cqr"
    columns = 2

    def of_truth(self, predictions: np.ndarray, truth: np.ndarray) -> np.ndarray:
        lower, upper = predictions.T
        return np.clip((np.maximum(lower - truth, truth - upper) + self.bound) / (2 * self.bound), 0, 1)

    def margin(self, limits: np.ndarray) -> np.ndarray:
        return (2 * limits - 1) * self.bound


@dataclass(frozen=True)
class Own(Score):
    """Somebody's own score, of which only the numbers are known: it gives a threshold and no sets."""

    name = "own"


OWN = Own()


SCORES: dict[str, type[Score]] = {one.name: one for one in (Lac, Aps, Raps, Residual, Cqr, Own)}


def score_named(score: "str | Score") -> Score:
    """The score of that name; parameters follow a colon.

    >>> score_named("raps:penalty=0.1,free_ranks=1")
    Raps(penalty=0.1, free_ranks=1)
    """
    if isinstance(score, Score):
        return score
    if not isinstance(score, str):
        raise InputError(f"score must be one of {', '.join(SCORES)}, or a score of ppsets_core.scores.")
    name, _, rest = score.partition(":")
    pairs = [part.partition("=") for part in rest.split(",") if part.strip()]
    return score_from({"name": name.strip(), **{key.strip(): _number(value) for key, _, value in pairs}})


def score_from(document: Mapping[str, Any]) -> Score:
    """The score that `Score.document` describes; anything else is an InputError."""
    kind = SCORES.get(document["name"]) if isinstance(document.get("name"), str) else None
    if kind is None:
        raise InputError(f"The score must be one of {', '.join(SCORES)}.")
    given = {name: value for name, value in document.items() if name != "name"}
    known = [field.name for field in fields(kind)]
    if unknown := [name for name in given if name not in known]:
        listed = ", ".join(known) or "none"
        raise InputError(f"The score '{kind.name}' has no parameter '{unknown[0][:100]}'; its parameters: {listed}.")
    try:
        return kind(**given)
    except TypeError:
        raise InputError(
            f"The score '{kind.name}' needs its {' and '.join(known)}, as in {kind.name}:bound=200."
        ) from None


def class_score(score: "str | Score") -> ClassScore:
    """The score, if it can turn probabilities into sets."""
    found = score_named(score)
    if not isinstance(found, ClassScore):
        able = ", ".join(name for name, one in SCORES.items() if issubclass(one, ClassScore))
        raise InputError(f"The score '{found.name}' is not computed from probabilities. For these use one of {able}.")
    return found


def _number(text: str) -> float | int | str:
    try:
        value = float(text)
    except ValueError:
        return text
    return int(value) if value.is_integer() else value


def _accumulated(probabilities: np.ndarray, extra: np.ndarray | float = 0.0) -> np.ndarray:
    """For each class the sum of the probabilities down to its rank, at most 1; `extra` is added by rank."""
    order = np.argsort(-probabilities, axis=1, kind="stable")
    sums = np.take_along_axis(probabilities, order, axis=1).cumsum(axis=1)
    found = np.empty_like(sums)
    np.put_along_axis(found, order, np.minimum(sums, 1) + extra, axis=1)
    return found


def check_positive(value: float, name: str) -> float:
    """A finite number above 0."""
    number = check_real(value, name)
    if not 0 < number < np.inf:
        raise InputError(f"{name} must be a finite number above 0, fixed before the records are seen.")
    return number
