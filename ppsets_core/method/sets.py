"""Conformity scores, ordinary split conformal calibration, and the prediction sets that a threshold cuts out."""

import math
from collections.abc import Hashable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, overload

import numpy as np

from ppsets_core.errors import InputError
from ppsets_core.inputs import Table, as_array, plain_numbers, read_numbers, read_table
from ppsets_core.method.bins import limit
from ppsets_core.method.calibration import BaseCalibration, least_probability
from ppsets_core.scores import IntervalScore, Score, class_score
from ppsets_core.validation import check_alpha, check_scores, check_threshold


def conformity_scores(
    probabilities: Any, labels: Any, score: str | Score = "lac", *, classes: Sequence[str] | None = None
) -> np.ndarray:
    """The score S(x, y) of each record's true class, in [0, 1]; by default 1 − p̂(x)_y.

    Parameters
    ----------
    probabilities : one row per record, one column per class; each row adds up to 1. An array, a tensor or a DataFrame.
        Scores of float16 are float16, so that a calibration knows.
    labels : each record's true class, by name or column number
    score : "lac", "aps", "raps", or a score of `ppsets_core.scores` with other parameters
    classes : names of the columns, where they have none

    >>> conformity_scores([[0.75, 0.25], [0.5, 0.5]], [0, 1])
    array([0.25, 0.5 ])
    >>> conformity_scores([[0.75, 0.25], [0.5, 0.5]], [0, 1], "aps")
    array([0.75, 1.  ])
    """
    table, chosen = read_table(probabilities, classes), class_score(score)
    scores = chosen.of_labels(table.values, table.labels(labels))
    return scores.astype(np.float16) if table.half_precision else scores


def conformal_rank(n: int, alpha: float) -> int:
    """⌈(1−α)(n+1)⌉, the rank of ordinary split conformal; α is taken as the decimal that it prints as."""
    return math.ceil((1 - Fraction(Decimal(repr(alpha)))) * (n + 1))


@overload
def nonprivate_threshold(scores: Any, alpha: float, per: None = None) -> float: ...


@overload
def nonprivate_threshold(scores: Any, alpha: float, per: Any) -> dict[Hashable, float]: ...


def nonprivate_threshold(scores: Any, alpha: float, per: Any = None) -> float | dict[Hashable, float]:
    """Ordinary split conformal: the ⌈(1−α)(n+1)⌉-th smallest score, or 1 where there are too few. Not private.

    Parameters
    ----------
    scores : conformity scores in [0, 1]
    alpha : allowed miss rate, above 0 and at most 0.5
    per : each record's class or group; then the threshold of each of them that is there

    >>> nonprivate_threshold([0.1, 0.2, 0.3, 0.4], 0.5)
    0.3
    >>> nonprivate_threshold([0.1, 0.2, 0.3, 0.4], 0.5, per=["a", "a", "a", "b"])
    {'a': 0.2, 'b': 0.4}
    """
    scores, alpha = check_scores(plain_numbers(as_array(scores))), check_alpha(alpha)
    if per is not None:
        names = as_array(per)
        if names.shape != scores.shape:
            raise InputError(f"per: expected one class or group for each of the {len(scores)} records.")
        return {name: nonprivate_threshold(scores[names == name], alpha) for name in np.unique(names).tolist()}
    rank = conformal_rank(len(scores), alpha)
    return float(np.partition(scores, rank - 1)[rank - 1]) if rank <= len(scores) else 1.0


def prediction_sets(
    probabilities: Any,
    calibration: BaseCalibration | float | Sequence[float],
    *,
    classes: Sequence[str] | None = None,
    groups: Sequence[str] | None = None,
    half_precision: bool = False,
) -> np.ndarray:
    """Which classes are in each record's set {y : S(x, y) ≤ ŝ}, as booleans (N, K); a set may be empty or full.

    S is the calibration's score. Columns with names are matched with the calibration's classes in any order, and the
    sets have the order of the columns. Scores within 10⁻⁶ above ŝ are in the set, with float16 on either side within
    2⁻¹⁰: docs/method.md#at-the-edges.

    Parameters
    ----------
    probabilities : one row per record, one column per class; each row adds up to 1. An array, a tensor or a DataFrame
    calibration : a calibration or simulation, or a bare threshold in [0, 1] for 1 − p, or one for each column
    classes : names of the columns, where they have none; of a DataFrame the columns to use, in this order.
        Refused where they are not the calibration's
    groups : each record's group, where the calibration has a threshold for each group
    half_precision : whether float16 was used on either side; a calibration and an array of float16 say so themselves

    >>> prediction_sets([[0.75, 0.25], [0.5, 0.5]], 0.5)
    array([[ True, False],
           [ True,  True]])
    """
    return _members(read_table(probabilities, classes), calibration, groups, half_precision)


def ranked_sets(
    probabilities: Any,
    calibration: BaseCalibration | float | Sequence[float],
    *,
    classes: Sequence[str] | None = None,
    groups: Sequence[str] | None = None,
) -> list[list[int]]:
    """The classes of each set as column numbers, most probable first.

    Parameters
    ----------
    probabilities, calibration, classes, groups : as in `prediction_sets`
    """
    table = read_table(probabilities, classes)
    members = _members(table, calibration, groups)
    order = np.argsort(-table.values, axis=1, kind="stable")
    return [[int(y) for y in ranking if inside[y]] for ranking, inside in zip(order, members, strict=True)]


def _members(
    table: Table,
    calibration: BaseCalibration | float | Sequence[float],
    groups: Sequence[str] | None = None,
    half_precision: bool = False,
) -> np.ndarray:
    half = half_precision or table.half_precision
    if not isinstance(calibration, BaseCalibration):
        return table.values >= least_probability(_bare_thresholds(calibration, table.values.shape[1]), half)
    if (places := table.places_of(calibration.classes)) is None and table.names is not None:
        calibration.check_classes(table.names)
    values = table.values if places is None else table.values[:, places]
    records, classes = values.shape
    if calibration.has_cutoffs:
        found = values >= calibration.class_cutoffs(records, classes, groups, half)
    else:
        scores = calibration.class_score.of_classes(values)
        if half != calibration.half_precision:
            raise InputError(
                f"The score '{calibration.score.name}' depends on the order of the probabilities, which float16 can "
                "change. Give them as float16 here and in the calibration, or in neither."
            )
        found = scores <= limit(calibration.class_thresholds(records, classes, groups), half)
    return found if places is None else found[:, np.argsort(places)]


def _bare_thresholds(given: float | Sequence[float], classes: int) -> np.ndarray:
    if np.ndim(given) == 0:
        return np.array(check_threshold(given))  # type: ignore[arg-type]
    found = np.array([check_threshold(one) for one in given])  # type: ignore[union-attr]
    if len(found) != classes:
        raise InputError(f"There are {len(found)} thresholds and {classes} columns; give one for each, or one for all.")
    return found


def prediction_interval(
    predictions: Any, calibration: BaseCalibration, *, groups: Sequence[str] | None = None
) -> np.ndarray:
    """The interval around each prediction that holds the true number as often as promised, (N, 2).

    The whole line where ŝ is 1: too few records, a group that was not calibrated, or distances beyond the bound. With
    `cqr`, an interval whose upper end is below its lower one is empty.

    Parameters
    ----------
    predictions : one number per record; for the score `cqr` the lower and the upper quantile, (N, 2)
    calibration : a calibration or simulation for the score `residual` or `cqr`
    groups : each record's group, where the calibration has a threshold for each group
    """
    if not isinstance(calibration, BaseCalibration) or not isinstance(calibration.score, IntervalScore):
        raise InputError("An interval needs a calibration for the score 'residual' or 'cqr'.")
    score = calibration.score
    values = score.check_predictions(read_numbers(predictions, "predictions"))
    thresholds = calibration.group_thresholds(len(values), groups)
    margins = np.where(thresholds < 1, score.margin(limit(thresholds, calibration.half_precision)), np.inf)
    lower, upper = (values, values) if values.ndim == 1 else values.T
    return np.column_stack([lower - margins, upper + margins])


def coverage_counts(members: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each class, and for each size of a set from 0, how many records have their class in the set and how many
    not: two columns each."""
    number, missed = members.shape[1], ~members[np.arange(len(labels)), labels]
    by_class, by_size = (
        np.bincount(2 * values + missed, minlength=2 * count).reshape(count, 2)
        for values, count in ((labels, number), (members.sum(axis=1), number + 1))
    )
    return by_class, by_size
