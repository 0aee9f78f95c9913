"""Conformity scores and the prediction sets that a threshold cuts out."""

import numpy as np

from ppsets_core.validation import check_labels, check_probabilities, check_threshold


def conformity_scores(probabilities: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """S(x, y) = 1 − p̂(x)_y for each record's true class, given as a column number.

    >>> conformity_scores([[0.75, 0.25], [0.5, 0.5]], [0, 1])
    array([0.25, 0.5 ])
    """
    probabilities = check_probabilities(probabilities)
    labels = check_labels(labels, *probabilities.shape)
    return 1 - probabilities[np.arange(len(labels)), labels]


def prediction_sets(probabilities: np.ndarray, threshold: float) -> np.ndarray:
    """Which classes are in each record's set {y : S(x, y) ≤ ŝ}, as booleans (N, K); a set may be empty or full.

    >>> prediction_sets([[0.75, 0.25], [0.5, 0.5]], 0.5)
    array([[ True, False],
           [ True,  True]])
    """
    return 1 - check_probabilities(probabilities) <= check_threshold(threshold)


def ranked_sets(probabilities: np.ndarray, threshold: float) -> list[list[int]]:
    """The classes of each set as column numbers, most probable first."""
    members = prediction_sets(probabilities, threshold)
    order = np.argsort(-np.asarray(probabilities, dtype=np.float64), axis=1, kind="stable")
    return [[int(y) for y in ranking if inside[y]] for ranking, inside in zip(order, members, strict=True)]
