"""A plan carried out: a `Calibration` is a release, the only thing that leaves; a `Simulation` is of another type."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime

import numpy as np
from numpy.typing import ArrayLike

from ppsets_core.errors import InputError
from ppsets_core.method.bins import limit
from ppsets_core.method.plan import DIAGNOSIS, Plan
from ppsets_core.scores import LAC, SCORES, ClassScore, IntervalScore, Lac, Score
from ppsets_core.validation import LONGEST_NAME, check_name, listed

UNITS = ("patient", "record")
PUBLIC = tuple(field.name for field in fields(Plan))
OTHER_MODEL = (
    "This calibration was made with another model's scores, so its coverage does not hold for this one. "
    "Calibrate with this model, or use the weights that it was made with."
)


@dataclass(frozen=True, kw_only=True)
class BaseCalibration(Plan):
    """Thresholds with every public number behind them.

    drawn: the threshold of each target, in the plan's order.
    classes: the diagnoses in the order of the probabilities, empty where only scores were given.
    model: the fingerprint of the model behind the scores, or the user's own words for it; None if unknown.
    score: which score the thresholds are for. Sets and intervals apply this one and no other.
    half_precision: whether the scores, or the probabilities behind them, were stored as float16.
    """

    drawn: tuple[float, ...]
    classes: tuple[str, ...]
    model: str | None
    score: Score = LAC
    half_precision: bool = False

    def to_json(self) -> str:
        """A JSON text that says which it is; `from_json` reads a release, and no simulation."""
        from ppsets_core.method.calibration_json import write_calibration

        return write_calibration(self)

    @property
    def plan(self) -> Plan:
        return Plan(**{name: getattr(self, name) for name in PUBLIC})

    @property
    def thresholds(self) -> tuple[float, ...]:
        """ŝ: one, or one for each diagnosis or group."""
        return self.drawn[: self.groups]

    @property
    def novelty_threshold(self) -> float | None:
        """τ̂, above which an X-ray is unlike the calibration's; None where the plan has none."""
        return None if self.novelty is None else self.drawn[-1]

    @property
    def threshold(self) -> float:
        """ŝ, where there is one for all patients together."""
        if len(self.thresholds) != 1:
            raise InputError(f"There is a threshold for each {self.per}, not one for all: use `thresholds`.")
        return self.thresholds[0]

    @property
    def cutoff(self) -> float:
        """The least probability that is in the set: 1 − ŝ, less the tolerance at the edges."""
        self.threshold  # noqa: B018  # refused where there are several
        return self.cutoffs[0]

    @property
    def cutoffs(self) -> tuple[float, ...]:
        """The least probability that is in the set by each of the thresholds; 0: every diagnosis is."""
        if not self.has_cutoffs:
            raise InputError(f"With the score '{self.score.name}' no single probability decides what is in a set.")
        return tuple(least_probability(self.thresholds, self.half_precision).tolist())

    @property
    def is_full(self) -> bool:
        """Whether every set holds every diagnosis: the plan is trivial, or every threshold came out as 1."""
        return all(limit(threshold, self.half_precision) >= 1 for threshold in self.thresholds)

    @property
    def has_cutoffs(self) -> bool:
        """Whether a probability alone decides if a class is in the set, as with the score `lac`."""
        return isinstance(self.score, Lac)

    @property
    def class_score(self) -> ClassScore:
        """The score, if it can turn probabilities into sets."""
        if isinstance(self.score, ClassScore):
            return self.score
        known = ", ".join(name for name, one in SCORES.items() if issubclass(one, ClassScore))
        what = "intervals, by `prediction_interval`," if isinstance(self.score, IntervalScore) else "a threshold"
        raise InputError(
            f"This calibration is for the score '{self.score.name}': it gives {what} and no sets. For sets, calibrate "
            f"with probabilities, or say which of {known} the scores were."
        )

    def is_for(self, model: str | None) -> bool | None:
        """Whether the scores were those of the model with this fingerprint; None where either is unknown."""
        return None if self.model is None or model is None else self.model == model

    def check_classes(self, classes: Sequence[str]) -> None:
        """Refuse another list of diagnoses than the calibration's: its thresholds say nothing about those."""
        if self.classes and tuple(classes) != self.classes:
            raise InputError(
                f"The calibration is for {len(self.classes)} classes ({listed(self.classes)}), and these are "
                f"probabilities of {len(classes)} ({listed(classes)}). Use the calibration of that model."
            )

    def check_fits(self, classes: Sequence[str], model: str | None) -> None:
        """Refuse another model's probabilities, by their classes or by the model's fingerprint where both are known."""
        self.check_classes(classes)
        if self.is_for(model) is False:
            raise InputError(OTHER_MODEL)

    def class_cutoffs(
        self, records: int, classes: int, groups: Sequence[str] | None = None, half_precision: bool = False
    ) -> np.ndarray:
        """The least probability of every class that is in the set, to be broadcast to every record and class.

        half_precision: whether the probabilities are float16. An unknown group gets 0: every class is in the set.
        """
        thresholds = self.class_thresholds(records, classes, groups)
        return least_probability(thresholds, half_precision or self.half_precision)

    def class_thresholds(self, records: int, classes: int, groups: Sequence[str] | None) -> np.ndarray:
        """The thresholds, to be broadcast to every record and class; an unknown group gets 1."""
        if self.classes and len(self.classes) != classes:
            raise InputError(
                f"The calibration is for {len(self.classes)} classes and there are probabilities of {classes}. "
                "Use the calibration of the model that gave them."
            )
        if self.per is None:
            return np.full((1, classes), self.threshold)
        if self.per == DIAGNOSIS:
            return np.array([self.thresholds])
        return self.group_thresholds(records, groups)[:, None]

    def group_thresholds(self, records: int, groups: Sequence[str] | None) -> np.ndarray:
        """The threshold of each record's group, or the only one; an unknown group gets 1."""
        if self.per is None:
            return np.full(1, self.threshold)
        if groups is None or len(groups) != records:
            raise InputError(
                f"This calibration has a threshold for each {self.per}: say which {self.per} every record is of."
            )
        names = groups.tolist() if isinstance(groups, np.ndarray) else groups
        by_name = dict.fromkeys(names, 1.0) | dict(zip(self.group_names, self.thresholds, strict=True))
        return np.fromiter(map(by_name.__getitem__, names), np.float64, records)


@dataclass(frozen=True, kw_only=True)
class Calibration(BaseCalibration):
    """A release: drawn by OpenDP, ε-differentially private, and with these numbers all that leaves the building.

    `unit`: what ε protects one of, a patient or a record. `dataset`: the account that paid for it, and `date` when.
    """

    unit: str
    dataset: str | None
    date: str

    @property
    def epsilon_spent(self) -> float:
        """What it cost: ε, or nothing where the plan is trivial and the data was not touched."""
        return 0.0 if self.is_trivial else self.epsilon

    @classmethod
    def from_json(cls, text: str) -> "Calibration":
        """Read strictly: anything missing, unknown, out of range or inconsistent is an InputError."""
        from ppsets_core.method.calibration_json import read_calibration

        found = read_calibration(text)
        if not isinstance(found, cls):
            raise InputError("This is a simulation, which was drawn for a trial and is no private release.")
        return found


@dataclass(frozen=True, kw_only=True)
class Simulation(BaseCalibration):
    """Drawn by a seedable generator, for trials on public data. It protects nobody and is no release."""

    epsilon_spent = 0.0


def least_probability(thresholds: ArrayLike, half_precision: bool = False) -> np.ndarray:
    """The least p with 1 − p at most the threshold, but for the tolerance at the edges."""
    return np.maximum(1 - limit(thresholds, half_precision), 0)


def check_binding(unit: object, model: object, dataset: object = None, date: object = None) -> None:
    """What ε protects one of, whose scores these are, who paid and when, before anything is spent."""
    if not isinstance(unit, str) or unit not in UNITS:
        raise InputError(f"unit must be one of {', '.join(UNITS)}.")
    check_model(model)
    if dataset is not None:
        check_name(dataset)
    if date is not None and not _is_date(date):
        raise InputError("date must be a time in UTC such as 2026-01-31T12:00:00+00:00.")


def check_model(model: object) -> None:
    if model is None:
        return
    try:
        check_name(model)
    except InputError:
        raise InputError(
            f"model must be a fingerprint, or your own name for it in 1 to {LONGEST_NAME} printable characters."
        ) from None


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _is_date(date: object) -> bool:
    if not isinstance(date, str) or not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", date):
        return False
    try:
        return bool(datetime.fromisoformat(date))
    except ValueError:
        return False
