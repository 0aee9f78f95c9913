"""Calibrations and simulations as JSON: written in one way, and read strictly, for a file may have been changed."""

import json
import math
from dataclasses import asdict, fields, replace
from typing import Any, TypeGuard

import numpy as np

from ppsets_core.errors import InputError
from ppsets_core.method.bins import bin_index
from ppsets_core.method.calibration import (
    PUBLIC,
    BaseCalibration,
    Calibration,
    Simulation,
    check_binding,
    check_model,
)
from ppsets_core.method.plan import (
    DIAGNOSIS,
    NOVELTY,
    SCORE,
    Plan,
    Target,
    epsilon_less,
    novelty_target,
    plan,
)
from ppsets_core.method.rules import rule_named
from ppsets_core.method.rules.sharp import Sharp
from ppsets_core.scores import LAC, Score, score_from
from ppsets_core.validation import check_alpha, check_epsilon, check_m, check_names

FORMAT, VERSION = "ppsets-calibration", 5
KINDS: dict[str, type[Calibration] | type[Simulation]] = {"release": Calibration, "simulation": Simulation}
FACTS = ("classes", "model")
OF_RELEASE = ("unit", "dataset", "date")
PLANNED = ("n", "alpha", "epsilon", "method", "coverage_lower", "per")
TARGET = tuple(field.name for field in fields(Target))
LONGEST = 5_000_000
"""Room for as many names as there may be, each twice."""
OF_SCORE = "score"
"""A field that calibrations for another score than `lac` have."""
HALF = "half_precision"
"""A field that only calibrations from float16 have."""
REMEDY = "Use the JSON file that a calibration saved, unchanged."


def write_calibration(calibration: BaseCalibration) -> str:
    """Write every public number; each target with its threshold."""
    kind = next(kind for kind, of in KINDS.items() if isinstance(calibration, of))
    facts = (*FACTS, *OF_RELEASE) if isinstance(calibration, Calibration) else FACTS
    document = {"format": FORMAT, "version": VERSION, "kind": kind}
    document |= {name: getattr(calibration, name) for name in (*facts, *PLANNED)}
    pairs = zip(calibration.targets, calibration.drawn, strict=True)
    if calibration.score != LAC:
        document[OF_SCORE] = calibration.score.document()
    if calibration.half_precision:
        document[HALF] = True
    document["targets"] = [{"threshold": threshold} | asdict(target) for target, threshold in pairs]
    return json.dumps(document, indent=2, allow_nan=False, ensure_ascii=False) + "\n"


def read_calibration(text: str) -> Calibration | Simulation:
    """Read a release or a simulation, as the text says; anything else is an InputError."""
    document = _current(_parse(text))
    kind = KINDS.get(document["kind"]) if isinstance(document.get("kind"), str) else None
    if "kind" in document and kind is None:
        raise _refusal("its kind is neither release nor simulation")
    facts = (*FACTS, *(OF_RELEASE if kind is not Simulation else ()))
    half = (HALF,) if document.get(HALF) is True else ()
    other = (OF_SCORE,) if OF_SCORE in document else ()
    _check_fields(document, ("format", "version", "kind", *facts, *other, *half, *PLANNED, "targets"))
    targets = _targets(document["targets"])
    try:
        said = _facts(document, facts) | {"score": _score(document)}
        expected = _planned(document, targets)
    except (InputError, TypeError) as error:
        raise _refusal(str(error).rstrip(".")) from None
    if expected.per == DIAGNOSIS and expected.names != said["classes"]:
        raise _refusal(f"there is not exactly one threshold for each {expected.per}")
    for name in PLANNED:
        if not _agree(document[name], getattr(expected, name)):
            raise _refusal(f"the field '{name}' does not follow from n, alpha, epsilon, method, m, gamma and per")
    for given, target in zip(targets, expected.targets, strict=True):
        for name in TARGET:
            if not _agree(given[name], getattr(target, name)):
                raise _refusal(f"the field '{name}' of a target does not follow from n, alpha, epsilon and m")
    drawn = tuple(
        _threshold(given["threshold"], target) for given, target in zip(targets, expected.targets, strict=True)
    )
    assert kind is not None
    return kind(**said, half_precision=bool(half), drawn=drawn, **{name: getattr(expected, name) for name in PUBLIC})


def _current(document: dict[str, Any]) -> dict[str, Any]:
    """The document as this version would have written it. Version 4 had no targets, and said familiarity."""
    if document.get("format") != FORMAT:
        raise _refusal("it is not a ppsets calibration")
    version = document.get("version")
    if type(version) is not int or version not in (VERSION - 1, VERSION):
        raise _refusal(f"its version is neither {VERSION - 1} nor {VERSION}, which this program reads")
    return document if version == VERSION else _from_version_4(document)


def _from_version_4(old: dict[str, Any]) -> dict[str, Any]:
    kept = ("format", "kind", *FACTS, *PLANNED, *(OF_RELEASE if old.get("kind") != "simulation" else ()))
    one_each = old.get("per") is not None
    gone = ("m", "gamma", "level", "rank", "groups", "group_names", "familiarity")
    _check_fields(old, ("version", *kept, *gone, "thresholds" if one_each else "threshold"))
    beside, thresholds = old["familiarity"], old["thresholds"] if one_each else {None: old["threshold"]}
    if not isinstance(thresholds, dict) or (beside is not None and not isinstance(beside, dict)):
        raise _refusal("its thresholds are not as a calibration writes them")
    names = old["classes"] if old["per"] == DIAGNOSIS else old["group_names"]
    if one_each and (not isinstance(names, list) or list(thresholds) != names or old["groups"] != len(names)):
        raise _refusal(f"there is not exactly one threshold for each {old['per']}")
    if not one_each and (old["groups"], old["group_names"]) != (1, []):
        raise _refusal("it names groups, and one threshold serves all")
    try:
        own = 0.0 if beside is None else beside["epsilon"]
        part = epsilon_less(check_epsilon(old["epsilon"]), own) if own else old["epsilon"]
        aim = {name: old[name] for name in ("alpha", "method", "m", "gamma", "level", "rank")}
        targets = [
            {"threshold": value, "quantity": SCORE, "of": of, "epsilon": part} | aim for of, value in thresholds.items()
        ]
        if beside is not None:
            level = None if beside["rank"] is None else beside["rank"] / old["n"]
            shared = {name: beside[name] for name in ("threshold", "alpha", "epsilon", "m", "rank")}
            targets.append(
                {"quantity": NOVELTY, "of": None, "method": Sharp.name, "gamma": None, "level": level} | shared
            )
    except (KeyError, TypeError, ArithmeticError, InputError):
        raise _refusal("the field 'familiarity' is not as a calibration writes it") from None
    return {name: old[name] for name in kept} | {"version": VERSION, "targets": targets}


def _check_fields(document: dict[str, Any], names: tuple[str, ...]) -> None:
    for name in names:
        if name not in document:
            raise _refusal(f"the field '{name}' is missing")
    if unknown := set(document) - set(names):
        raise _refusal(f"it has {len(unknown)} field(s) that a calibration does not have")


def _targets(given: object) -> list[dict[str, Any]]:
    if not isinstance(given, list) or not given:
        raise _refusal("there is no target")
    for target in given:
        if not isinstance(target, dict):
            raise _refusal("a target is not as a calibration writes it")
        _check_fields(target, ("threshold", *TARGET))
    return given


def _score(document: dict[str, Any]) -> Score:
    if OF_SCORE not in document:
        return LAC
    if not isinstance(document[OF_SCORE], dict):
        raise InputError("its score is not as a calibration writes it")
    found = score_from(document[OF_SCORE])
    if found == LAC or found.document().keys() != document[OF_SCORE].keys():
        raise InputError("its score is not as a calibration writes it")
    return found


def _facts(document: dict[str, Any], own: tuple[str, ...]) -> dict[str, Any]:
    facts = {name: document[name] for name in own}
    facts["classes"] = check_names(facts["classes"], "classes")
    if "unit" in facts:
        if facts["date"] is None:
            raise InputError("the date is missing")
        check_binding(*(facts[name] for name in ("unit", "model", "dataset", "date")))
    else:
        check_model(facts["model"])
    return facts


def _planned(document: dict[str, Any], targets: list[dict[str, Any]]) -> Plan:
    """The plan that n, α, ε, the rule and the bins of the targets lead to."""
    beside = targets[-1] if targets[-1]["quantity"] == NOVELTY else None
    thresholds = targets[:-1] if beside is not None else targets
    if not thresholds or (document["per"] is None and len(thresholds) > 1):
        raise InputError("there is not one threshold for all")
    first, rule = thresholds[0], rule_named(document["method"])
    if any(target["m"] is None for target in targets) or (rule.has_gamma and first["gamma"] is None):
        raise InputError("m, and gamma for the paper's rule, must be numbers")
    own = 0.0 if beside is None else beside["epsilon"]
    whole = check_epsilon(document["epsilon"])
    if not _is_number(own) or not 0 <= own < whole:
        raise InputError("the epsilon of novelty is not a part of epsilon")
    choices = {"method": document["method"], "m": first["m"], "gamma": first["gamma"], "per": document["per"]}
    if document["per"] is not None:
        names = [target["of"] for target in thresholds]
        choices["classes" if document["per"] == DIAGNOSIS else "groups"] = names
    part = epsilon_less(whole, own) if own else whole
    expected = replace(plan(document["n"], document["alpha"], part, **choices), epsilon=whole)
    if beside is None:
        return expected
    flagged = check_alpha(beside["alpha"])
    if own:
        target = novelty_target(expected.n, flagged, own, beside["m"])
        if target.is_trivial:
            raise InputError("there are too few records for a novelty threshold")
    else:
        target = Target(NOVELTY, None, flagged, 0.0, Sharp.name, check_m(beside["m"]))
    return replace(expected, targets=(*expected.targets, target))


def _agree(given: object, expected: object) -> bool:
    if isinstance(expected, float):
        return _is_number(given) and math.isclose(given, expected, rel_tol=1e-9)
    return type(given) is type(expected) and given == expected


def _is_number(given: object) -> TypeGuard[int | float]:
    return isinstance(given, int | float) and not isinstance(given, bool) and abs(given) < 1e300


def _threshold(threshold: object, target: Target) -> float:
    if not _is_number(threshold) or not 0 < threshold <= 1:
        raise _refusal("the threshold is not a number above 0 and at most 1")
    value = float(threshold)
    if target.is_trivial and value != 1:
        raise _refusal("the threshold of a trivial plan is 1")
    if int(bin_index(np.array(value), target.m)) / target.m != value:
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
