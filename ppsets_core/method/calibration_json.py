"""Calibrations and simulations as JSON: written in one way, and read strictly, for a file may have been changed."""

import json
import math
from dataclasses import asdict, fields
from typing import Any, TypeGuard

import numpy as np

from ppsets_core.errors import InputError
from ppsets_core.method.bins import bin_index
from ppsets_core.method.calibration import PUBLIC, Calibration, Drawn, Simulation, check_binding, check_model
from ppsets_core.method.plan import DIAGNOSIS, NoveltyPlan, NoveltyTarget, Plan, plan
from ppsets_core.method.rules import rule_named
from ppsets_core.validation import check_names

FORMAT, VERSION = "ppsets-calibration", 5
KINDS: dict[str, type[Calibration] | type[Simulation]] = {"release": Calibration, "simulation": Simulation}
FACTS = ("classes", "model")
OF_RELEASE = ("unit", "dataset", "date")
NOVELTY = tuple(field.name for field in fields(NoveltyPlan))
LONGEST = 5_000_000
"""Room for as many names as there may be, each twice."""
REMEDY = "Use the JSON file that a calibration saved, unchanged."


def write_calibration(drawn: Drawn) -> str:
    """Every public number; thresholds by name where each diagnosis or group has one of its own."""
    kind = next(kind for kind, of in KINDS.items() if isinstance(drawn, of))
    facts = (*FACTS, *OF_RELEASE) if isinstance(drawn, Calibration) else FACTS
    thresholds = (
        {"threshold": drawn.threshold}
        if drawn.per is None
        else {"thresholds": dict(zip(drawn.names, drawn.thresholds, strict=True))}
    )
    document = {"format": FORMAT, "version": VERSION, "kind": kind} | thresholds
    document |= {name: getattr(drawn, name) for name in (*facts, *PUBLIC)}
    if drawn.novelty is not None:
        document["novelty"] = {"threshold": drawn.novelty_threshold} | asdict(drawn.novelty)
    return json.dumps(document, indent=2, allow_nan=False, ensure_ascii=False) + "\n"


def read_calibration(text: str) -> Calibration | Simulation:
    """A release or a simulation, as the text says it is; anything else is an InputError."""
    document = _current(_parse(text))
    kind = KINDS.get(document["kind"]) if isinstance(document.get("kind"), str) else None
    if "kind" in document and kind is None:
        raise _refusal("its kind is neither release nor simulation")
    one_each = document.get("per") is not None
    own = (*FACTS, *(OF_RELEASE if kind is not Simulation else ()), "thresholds" if one_each else "threshold")
    _check_fields(document, ("format", "version", "kind", *own, *PUBLIC))
    try:
        facts = _facts(document, own)
        expected = plan(*(document[name] for name in ("n", "alpha", "epsilon")), **_choices(document))
    except (InputError, TypeError) as error:
        raise _refusal(str(error).rstrip(".")) from None
    facts["novelty_threshold"] = _novelty_threshold(document, expected)
    for name in PUBLIC:
        if name != "novelty" and not _agree(document[name], getattr(expected, name)):
            raise _refusal(f"the field '{name}' does not follow from n, alpha, epsilon, method, m, gamma and per")
    facts["thresholds"] = _thresholds(document, facts, expected)
    assert kind is not None
    return kind(**facts, **{name: getattr(expected, name) for name in PUBLIC})


def _current(document: dict[str, Any]) -> dict[str, Any]:
    """The document as this version would have written it: version 4 said familiarity for novelty."""
    if document.get("format") != FORMAT:
        raise _refusal("it is not a ppsets calibration")
    version = document.get("version")
    if type(version) is not int or version not in (VERSION - 1, VERSION):
        raise _refusal(f"its version is neither {VERSION - 1} nor {VERSION}, which this program reads")
    if version == VERSION - 1:
        if "novelty" in document or "familiarity" not in document:
            raise _refusal("the field 'familiarity' is missing")
        document |= {"version": VERSION, "novelty": document.pop("familiarity")}
    return document


def _check_fields(document: dict[str, Any], names: tuple[str, ...]) -> None:
    for name in names:
        if name not in document:
            raise _refusal(f"the field '{name}' is missing")
    if unknown := set(document) - set(names):
        raise _refusal(f"it has {len(unknown)} field(s) that a calibration does not have")


def _facts(document: dict[str, Any], own: tuple[str, ...]) -> dict[str, Any]:
    facts = {name: document[name] for name in own if not name.startswith("threshold")}
    facts["classes"] = check_names(facts["classes"], "classes")
    if "unit" in facts:
        check_binding(*(facts[name] for name in ("unit", "model", "dataset", "date")))
    else:
        check_model(facts["model"])
    return facts


def _choices(document: dict[str, Any]) -> dict[str, Any]:
    rule = rule_named(document["method"])
    if document["m"] is None or (rule.has_gamma and document["gamma"] is None):
        raise InputError("m, and gamma for the paper's rule, must be numbers")
    choices = {name: document[name] for name in ("method", "m", "gamma", "per")}
    if document["per"] is not None:
        number, names = document["groups"], document["group_names"]
        choices |= {"classes": number} if document["per"] == DIAGNOSIS else {"groups": names}
    if (beside := document["novelty"]) is not None:
        _check_novelty(beside)
        choices["novelty"] = NoveltyTarget(*(beside[name] for name in ("share", "alpha", "m")))
    return choices


def _check_novelty(given: object) -> None:
    if not isinstance(given, dict) or set(given) != {"threshold", *NOVELTY}:
        raise InputError("the field 'novelty' is not as a calibration writes it")
    if not _is_number(given["share"]) or given["share"] == 0 or given["m"] is None:
        raise InputError("the share and the m of 'novelty' must be numbers above 0")


def _novelty_threshold(document: dict[str, Any], expected: Plan) -> float | None:
    if (planned := expected.novelty) is None:
        return None
    given = document["novelty"]
    for name in NOVELTY:
        if not _agree(given[name], getattr(planned, name)):
            raise _refusal(f"'{name}' of 'novelty' does not follow from n, epsilon, share, alpha and m")
    return _threshold(given["threshold"], planned.m, is_trivial=not planned.is_possible)


def _agree(given: object, expected: object) -> bool:
    if isinstance(expected, float):
        return _is_number(given) and math.isclose(given, expected, rel_tol=1e-9)
    if isinstance(expected, tuple):
        return given == list(expected)
    return type(given) is type(expected) and given == expected


def _is_number(given: object) -> TypeGuard[int | float]:
    return isinstance(given, int | float) and not isinstance(given, bool) and abs(given) < 1e300


def _thresholds(document: dict[str, Any], facts: dict[str, Any], expected: Plan) -> tuple[float, ...]:
    if expected.per is None:
        return (_threshold(document["threshold"], expected.m, is_trivial=expected.is_trivial),)
    names = facts["classes"] if expected.per == DIAGNOSIS else expected.group_names
    given = document["thresholds"]
    if not isinstance(given, dict) or tuple(given) != names or len(names) != expected.groups:
        raise _refusal(f"there is not exactly one threshold for each {expected.per}")
    return tuple(_threshold(value, expected.m) for value in given.values())


def _threshold(threshold: object, m: int, *, is_trivial: bool = False) -> float:
    if not _is_number(threshold) or not 0 < threshold <= 1:
        raise _refusal("the threshold is not a number above 0 and at most 1")
    value = float(threshold)
    if is_trivial and value != 1:
        raise _refusal("the threshold of a trivial plan is 1")
    if int(bin_index(np.array(value), m)) / m != value:
        raise _refusal("the threshold is not the edge of one of the m bins")
    return value


def _parse(text: str) -> dict[str, Any]:
    if not isinstance(text, str) or len(text) > LONGEST:
        raise _refusal("it is not a short JSON text")
    try:
        document = json.loads(text, parse_constant=_no_constant, object_pairs_hook=_no_repeats)
    except InputError:
        raise
    except (ValueError, RecursionError):
        raise _refusal("it is not valid JSON") from None
    if not isinstance(document, dict):
        raise _refusal("it is not a JSON object")
    return document


def _no_constant(_: str) -> None:
    raise _refusal("it has a number that is not finite")


def _no_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    if len({name for name, _ in pairs}) < len(pairs):
        raise _refusal("a field stands twice")
    return dict(pairs)


def _refusal(what: str) -> InputError:
    return InputError(f"This calibration cannot be used: {what}. {REMEDY}")
