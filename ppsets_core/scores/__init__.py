"""Conformity scores, chosen by name: how a model's answer and the truth become a number in [0, 1], and back."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from ppsets_core.errors import InputError
from ppsets_core.scores.aps import Aps
from ppsets_core.scores.cqr import Cqr
from ppsets_core.scores.lac import LAC, Lac
from ppsets_core.scores.raps import Raps
from ppsets_core.scores.residual import Residual
from ppsets_core.scores.score import OWN, ClassScore, IntervalScore, Own, Score

__all__ = [
    "LAC",
    "OWN",
    "SCORES",
    "Aps",
    "ClassScore",
    "Cqr",
    "IntervalScore",
    "Lac",
    "Own",
    "Raps",
    "Residual",
    "Score",
    "class_score",
    "score_from",
    "score_named",
]

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
