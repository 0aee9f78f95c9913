"""Conformity scores, ordinary split conformal calibration, and the prediction sets that a threshold cuts out."""

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

import numpy as np

from ppsets_core.method.bins import is_half
from ppsets_core.method.calibration import BaseCalibration, least_probability
from ppsets_core.validation import check_alpha, check_labels, check_probabilities, check_scores, check_threshold


def conformity_scores(probabilities: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """S(x, y) = 1 − p̂(x)_y for each record's true class, given as a column number.

    Parameters
    ----------
    probabilities : one row per record, one column per class; each row adds up to 1. Scores of float16 are float16, so
        that a calibration knows.
    labels : the column number of each record's true class

    >>> conformity_scores([[0.75, 0.25], [0.5, 0.5]], [0, 1])
    array([0.25, 0.5 ])
    """
    half, probabilities = is_half(probabilities), check_probabilities(probabilities)
    labels = check_labels(labels, *probabilities.shape)
    scores = 1 - probabilities[np.arange(len(labels)), labels]
    return scores.astype(np.float16) if half else scores


def conformal_rank(n: int, alpha: float) -> int:
    """⌈(1−α)(n+1)⌉, the rank of ordinary split conformal; α is taken as the decimal that it prints as."""
    return math.ceil((1 - Fraction(Decimal(repr(alpha)))) * (n + 1))


def nonprivate_threshold(scores: np.ndarray, alpha: float) -> float:
    """Ordinary split conformal: the ⌈(1−α)(n+1)⌉-th smallest score, or 1 where there are too few. Not private.

    Parameters
    ----------
    scores : conformity scores in [0, 1]
    alpha : allowed miss rate, above 0 and at most 0.5

    >>> nonprivate_threshold([0.1, 0.2, 0.3, 0.4], 0.5)
    0.3
    """
    scores = check_scores(scores)
    rank = conformal_rank(len(scores), check_alpha(alpha))
    return float(np.partition(scores, rank - 1)[rank - 1]) if rank <= len(scores) else 1.0


def prediction_sets(
    probabilities: np.ndarray,
    calibration: BaseCalibration | float,
    *,
    classes: Sequence[str] | None = None,
    groups: Sequence[str] | None = None,
    half_precision: bool = False,
) -> np.ndarray:
    """Which classes are in each record's set {y : S(x, y) ≤ ŝ}, as booleans (N, K); a set may be empty or full.

    Scores within 10⁻⁶ above ŝ are in the set, with float16 on either side within 2⁻¹⁰: docs/method.md#at-the-edges.

    Parameters
    ----------
    probabilities : one row per record, one column per class; each row adds up to 1
    calibration : a calibration or simulation, or a bare threshold in [0, 1]
    classes : names of the columns; refused where they are not the calibration's
    groups : each record's group, where the calibration has a threshold for each group
    half_precision : whether float16 was used on either side; a calibration and an array of float16 say so themselves

    >>> prediction_sets([[0.75, 0.25], [0.5, 0.5]], 0.5)
    array([[ True, False],
           [ True,  True]])
    """
    half = half_precision or is_half(probabilities)
    probabilities = check_probabilities(probabilities)
    if not isinstance(calibration, BaseCalibration):
        return probabilities >= least_probability(check_threshold(calibration), half)
    if classes is not None:
        calibration.check_classes(classes)
    return probabilities >= calibration.class_cutoffs(len(probabilities), probabilities.shape[1], groups, half)


def ranked_sets(
    probabilities: np.ndarray,
    calibration: BaseCalibration | float,
    *,
    classes: Sequence[str] | None = None,
    groups: Sequence[str] | None = None,
) -> list[list[int]]:
    """The classes of each set as column numbers, most probable first.

    Parameters
    ----------
    probabilities : one row per record, one column per class; each row adds up to 1
    calibration : a calibration or simulation, or a bare threshold in [0, 1]
    classes : names of the columns; refused where they are not the calibration's
    groups : each record's group, where the calibration has a threshold for each group
    """
    members = prediction_sets(probabilities, calibration, classes=classes, groups=groups)
    order = np.argsort(-np.asarray(probabilities, dtype=np.float64), axis=1, kind="stable")
    return [[int(y) for y in ranking if inside[y]] for ranking, inside in zip(order, members, strict=True)]


def coverage_counts(members: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each class, and for each size of a set from 0, how many records have their class in the set and how many
    not: two columns each."""
    number, missed = members.shape[1], ~members[np.arange(len(labels)), labels]
    by_class, by_size = (
        np.bincount(2 * values + missed, minlength=2 * count).reshape(count, 2)
        for values, count in ((labels, number), (members.sum(axis=1), number + 1))
    )
    return by_class, by_size
