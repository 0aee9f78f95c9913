"""The one place that says whether a number or an array is fit for the method."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ppsets_core.errors import InputError

LEAST_EPSILON, LARGEST_EPSILON = 1e-12, 1e12
LEAST_ALPHA = 1e-100  # below it floating point would round to 0
LEAST_GAMMA = 1e-12
LARGEST_N = 10**11
LARGEST_SHARE = 0.9
LARGEST_M = 10**6
ROW_SUM_TOLERANCE, ROUNDING, LARGEST_TOLERANCE = 1e-3, 5e-4, 0.05
"""By how much a row may miss 1: at least this much, what K probabilities of three digits may, and never more."""
MOST_NAMES, LONGEST_NAME = 10_000, 100
Number = TypeVar("Number", int, float)
MISSING = "the value is missing or not a finite number; remove or repair it"


def check_alpha(alpha: float) -> float:
    words = "alpha must be above 0 and at most 0.5: it is the share of diagnoses that may be missed, e.g. 0.1."
    return _within(check_real(alpha, "alpha"), LEAST_ALPHA, 0.5, words)


def check_epsilon(epsilon: float) -> float:
    epsilon = check_real(epsilon, "epsilon")
    if epsilon <= 0 or math.isinf(epsilon):
        raise InputError("epsilon must be a positive, finite number: smaller is more private, e.g. 1.")
    words = f"epsilon must lie between {LEAST_EPSILON:g} and {LARGEST_EPSILON:g}; 0.1 to 10 is usual."
    return _within(epsilon, LEAST_EPSILON, LARGEST_EPSILON, words)


def check_share(share: float) -> float:
    words = "The share of epsilon for the novelty threshold must lie between 0, which switches it off, and"
    return _within(check_real(share, "The share of epsilon"), 0, LARGEST_SHARE, f"{words} {LARGEST_SHARE:g}.")


def check_n(n: int) -> int:
    words = "n must be at least 1: there are too few calibration records to calibrate with."
    return _within(check_whole(n, "n"), 1, LARGEST_N, words)


def check_m(m: int) -> int:
    words = f"m must be between 2 and {LARGEST_M:,} bins; leave it out to have it chosen."
    return _within(check_whole(m, "m"), 2, LARGEST_M, words)


def check_gamma(gamma: float) -> float:
    words = "gamma must be at least 1e-12 and below 1; leave it out to have it chosen."
    return _within(check_real(gamma, "gamma"), LEAST_GAMMA, math.nextafter(1, 0), words)


def check_count(number: int, what: str) -> int:
    words = f"There must be between 1 and {MOST_NAMES:,} {what}."
    return _within(check_whole(number, f"The number of {what}"), 1, MOST_NAMES, words)


def check_threshold(threshold: float) -> float:
    words = "The threshold must lie in [0, 1]; take it from a calibration."
    return _within(check_real(threshold, "threshold"), 0, 1, words)


def _within(number: Number, least: float, most: float, words: str) -> Number:
    if not least <= number <= most:
        raise InputError(words)
    return number


def check_name(name: object) -> str:
    """The name of a data set, a class or a group, as it may be kept, shown and exported."""
    if not isinstance(name, str) or not name.strip() or len(name) > LONGEST_NAME or not name.isprintable():
        raise InputError(f"A name must be 1 to {LONGEST_NAME} printable characters.")
    return name


def check_names(names: object, what: str) -> tuple[str, ...]:
    """Different names, in order."""
    if isinstance(names, str) or not isinstance(names, Sequence):
        raise InputError(f"{what} must be a list of names.")
    checked = tuple(check_name(name) for name in names)
    if len(set(checked)) < len(checked):
        raise InputError(f"{what}: a name stands twice.")
    if len(checked) > MOST_NAMES:
        raise InputError(f"{what}: more than {MOST_NAMES:,} names.")
    return checked


def listed(names: Sequence[str], most: int = 5) -> str:
    """The first few names, and how many more there are."""
    return ", ".join(names[:most]) + (f" and {len(names) - most:,} more" if len(names) > most else "") or "none"


@dataclass(frozen=True)
class Location:
    """Where values came from, so that a refusal can point at a file's line and column instead of an array's index."""

    source: str
    row: str = "row"
    rows: Sequence[int] | np.ndarray | None = None  # the row or line of each record, where not its position
    columns: tuple[str, ...] = ()  # names of an array's columns
    column: str | None = None  # name of the only column

    def at(self, row: int, column: int | None = None) -> str:
        name = self.column
        if column is not None:
            name = self.columns[column] if self.columns else str(column + 1)
        where = f"{self.source}, {self.row} {row + 1 if self.rows is None else self.rows[row]}"
        return f"{where}, column '{name}'" if name else where


def check_scores(
    scores: ArrayLike,
    location: Location = Location("scores"),
    outside_means: str = "the score is outside [0, 1]; a score is 1 − the true class's probability",
) -> np.ndarray:
    """Conformity scores, or another number in [0, 1] for each record, as a float64 vector: at least one, finite, in
    [0, 1]; never clipped."""
    scores = _floats(scores, location)
    if scores.ndim != 1:
        raise InputError(f"{location.source}: expected one score per record, got an array of {scores.ndim} dimensions.")
    if not len(scores):
        raise InputError(f"{location.source}: it is empty. At least one record is needed.")
    if not (scores.min() >= 0 and scores.max() <= 1):  # either is nan where a score is
        check_all(
            lambda: refuse_first(~np.isfinite(scores), location, MISSING),
            lambda: refuse_first((scores < 0) | (scores > 1), location, outside_means),
        )
    return scores


def check_probabilities(
    probabilities: ArrayLike,
    location: Location = Location("probabilities"),
    tolerance: float = ROW_SUM_TOLERANCE,
    *,
    copy: bool = True,
) -> np.ndarray:
    """Class probabilities as float64 (N, K): finite, in [0, 1], each row summing to 1 but for rounding to three digits.

    tolerance: by how much a row may miss 1, at least.
    copy: whether what others may change is copied.
    """
    probabilities = _floats(probabilities, location, copy)
    if probabilities.ndim != 2 or probabilities.shape[1] < 2:
        raise InputError(
            f"{location.source}: expected a row for each record and a column for each of two or more classes."
        )
    if not len(probabilities):
        raise InputError(f"{location.source}: it is empty. At least one record is needed.")
    if not (probabilities.min() >= 0 and probabilities.max() <= 1):  # either is nan where a probability is
        outside, logits = (probabilities < 0) | (probabilities > 1), "give softmax outputs, not logits"
        check_all(
            lambda: refuse_first(~np.isfinite(probabilities), location, MISSING),
            lambda: refuse_first(outside, location, f"the probability is outside [0, 1]; {logits}"),
        )
    number = probabilities.shape[1]
    allowed = min(max(tolerance, ROUNDING * number), LARGEST_TOLERANCE) + 1e-9
    off = np.abs(probabilities @ np.ones(number) - 1) > allowed
    classes = f" (taken as classes: {listed(location.columns, 20)})" if location.columns else ""
    refuse_first(
        off, location, f"the probabilities do not sum to 1; give one for each class and no other number{classes}"
    )
    return probabilities


def check_all(*checks: Callable[[], Any]) -> list[Any]:
    """What the checks return; raise what they refuse together, so that a file is repaired in one go."""
    found, refused = [], []
    for check in checks:
        try:
            found.append(check())
        except InputError as error:
            refused.append(str(error))
    if refused:
        raise InputError(" ".join(refused))
    return found


def refuse_first(bad: np.ndarray, location: Location, what: str) -> None:
    """Name the first offending value by its location, never what it is: values may be private."""
    if bad.any():
        more = f" ({int(bad.sum()):,} such places)" if bad.sum() > 1 else ""
        raise InputError(f"{location.at(*np.argwhere(bad)[0])}: {what}{more}.")


def check_real(value: float, name: str) -> float:
    try:
        number = math.nan if isinstance(value, bool | np.bool_) or not isinstance(value, Real) else float(value)
    except OverflowError:
        number = math.inf if value > 0 else -math.inf
    if math.isnan(number):
        raise InputError(f"{name} must be a number.")
    return number


def check_whole(value: int, name: str) -> int:
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral):
        raise InputError(f"{name} must be a whole number.")
    return int(value)


def _floats(values: ArrayLike, location: Location, copy: bool = True) -> np.ndarray:
    try:
        values = np.asarray(values)
    except ValueError:
        raise InputError(f"{location.source}: the rows are not all of one length.") from None
    if not (np.issubdtype(values.dtype, np.number) or values.size == 0) or np.iscomplexobj(values):
        raise InputError(f"{location.source}: expected numbers only.")
    return values.astype(np.float64, copy=copy and values.flags.writeable)  # what others may change is copied
