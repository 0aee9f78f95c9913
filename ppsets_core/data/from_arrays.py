"""Records from arrays in memory, checked once: what `calibrate` and `Ledger.release` take."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ppsets_core.data.columns import TEXTS
from ppsets_core.data.records import Records, refuse_unused, used_classes
from ppsets_core.errors import InputError
from ppsets_core.files.names import same_names
from ppsets_core.inputs import (
    as_array,
    column_names,
    is_half,
    numbered,
    plain_numbers,
    read_classes,
    read_labels,
    read_table,
    read_texts,
)
from ppsets_core.scores import Score, class_score, score_named
from ppsets_core.validation import check_scores


def records(
    probabilities: Any = None,
    labels: Any = None,
    *,
    scores: Any = None,
    classes: Sequence[str] | None = None,
    patients: Any = None,
    groups: Mapping[str, Any] | None = None,
    model: str | None = None,
    score: str | Score = "lac",
) -> Records:
    """Check arrays once and make records of them, from lists, NumPy, torch, pandas or polars.

    Give probabilities with labels, or scores. `one_per_patient` then keeps one record per patient.

    Parameters
    ----------
    probabilities : one row per record, one column per class; each row adds up to 1. The columns of a DataFrame
        name the classes
    labels : each record's true class: by name, by column number, categorical or bool. With scores: only needed for a
        promise within each diagnosis, and then with classes
    scores : conformity scores in [0, 1], where there are no probabilities
    classes : names of the columns, where they have none; of a DataFrame the columns to use, in this order
    patients : whose record each is; None or '' where that is not known
    groups : columns of groups by name, such as {"site": …}
    model : your own name for the model, or its fingerprint. Another model's probabilities are refused later
    score : how probabilities become scores ("lac", "aps", "raps"), or which score the scores are; "own" gives a
        threshold and no sets

    >>> found = records([[0.75, 0.25], [0.5, 0.5]], ["a", "b"], classes=["a", "b"])
    >>> found.scores.tolist(), found.labels.tolist()
    ([0.25, 0.5], [0, 1])
    """
    if (probabilities is None) == (scores is None):
        raise InputError("records: give either probabilities, with labels, or scores.")
    chosen = score_named(score)
    given: dict[str, Any] = {"score": chosen, "model": model}
    if scores is not None:
        found = check_scores(plain_numbers(as_array(scores)))
        given |= {"half_precision": is_half(scores)} | _labels_of_scores(labels, classes, len(found))
    else:
        if labels is None:
            raise InputError("records: probabilities need the true class of every record as labels.")
        table = read_table(probabilities, classes)
        table = replace(table, values=table.values.copy())
        names = table.names or numbered(table.values.shape[1])
        numbers = read_labels(labels, len(table.values), names)
        found = class_score(chosen).of_labels(table.values, numbers)
        given |= {"classes": names, "probabilities": table.values, "labels": numbers}
        given["half_precision"] = table.half_precision
    if patients is not None:
        given["patients"] = np.array(same_names(read_texts(patients, len(found), "patients")), dtype=TEXTS)
    if groups is not None:
        given["groups"] = _groups(groups, len(found))
    made = Records("records", found, **given)
    if scores is None and classes is None and column_names(probabilities) is not None:
        refuse_unused(made.source, made.classes, used_classes(made))
    return made


def _labels_of_scores(labels: Any, classes: Sequence[str] | None, count: int) -> dict[str, Any]:
    if classes is None:
        if labels is not None:
            raise InputError("records: labels beside scores need the names of all classes, as classes=[…].")
        return {}
    names = read_classes(classes)
    return {"classes": names} | ({} if labels is None else {"labels": read_labels(labels, count, names)})


def _groups(groups: Any, count: int) -> dict[str, np.ndarray]:
    if not hasattr(groups, "__getitem__") or not (hasattr(groups, "keys") or hasattr(groups, "columns")):
        raise InputError('records: groups must be columns by name, such as groups={"site": sites}.')
    names = groups.columns if hasattr(groups, "columns") else groups
    return {str(name): np.array(read_texts(groups[name], count, f"groups, {name}"), dtype=TEXTS) for name in names}
