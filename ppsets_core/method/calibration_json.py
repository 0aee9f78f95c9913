"""Calibrations and simulations as JSON: written in one way, and read strictly, for a file may have been changed."""

import json
import math
from dataclasses import asdict, replace
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
from ppsets_core.method.plan import DIAGNOSIS, NOVELTY, SCORE, Plan, Target, epsilon_less, novelty_target, plan
from ppsets_core.method.rules.sharp import Sharp
from ppsets_core.scores import LAC, score_from
from ppsets_core.validation import check_alpha, check_epsilon, check_m, check_names

FORMAT, VERSION = "ppsets-calibration", 5
KINDS: dict[str, type[Calibration] | type[Simulation]] = {"release": Calibration, "simulation": Simulation}
FACTS = ("classes", "model")
OF_RELEASE = ("unit", "dataset", "date")
PLANNED = ("n", "alpha", "epsilon", "method", "coverage_lower", "per")
ONE_SCORE = {"score": LAC.document(), "half_precision": False}
"""What a calibration says that was written when there was one score: neither field."""
LONGEST = 5_000_000
"""Room for as many names as there may be, each twice."""
REMEDY = "Use the JSON file that a calibration saved, unchanged."


def write_calibration(calibration: BaseCalibration) -> str:
    """Write every public number; each target with its threshold."""
    kind = next(kind for kind, of in KINDS.items() if isinstance(calibration, of))
    facts = (*FACTS, *OF_RELEASE) if isinstance(calibration, Calibration) else FACTS
    document = {"format": FORMAT, "version": VERSION, "kind": kind}
    document |= {name: getattr(calibration, name) for name in (*facts, *PLANNED)}
    document |= {"score": calibration.score.document(), "half_precision": calibration.half_precision}
    pairs = zip(calibration.targets, calibration.drawn, strict=True)
    document["targets"] = [{"threshold": threshold} | asdict(target) for target, threshold in pairs]
    return json.dumps(document, indent=2, allow_nan=False, ensure_ascii=False) + "\n"


def read_calibration(text: str) -> Calibration | Simulation:
    """Read a release or a simulation, as the text says; what this program would not have written is an InputError."""
    document = _current(_parse(text))
    try:
        found = _calibration(document)
    except KeyError as missing:
        raise _refusal(f"the field '{missing.args[0]}' is missing") from None
    except (InputError, TypeError) as error:
        raise _refusal(str(error).rstrip(".")) from None
    written = json.loads(write_calibration(found))
    if unknown := document.keys() - written.keys():
        raise _refusal(f"it has {len(unknown)} field(s) that a calibration does not have")
    for name, value in written.items():
        if name not in document or not _agree(document[name], value):
            raise _refusal(f"the field '{name}' does not follow from n, alpha, epsilon, method, m, gamma and per")
    return found


def _calibration(document: dict[str, Any]) -> Calibration | Simulation:
    """What the document says, where that can be; that it says nothing else is seen by writing it again."""
    kind = KINDS.get(str(document["kind"]))
    if kind is None:
        raise InputError("its kind is neither release nor simulation")
    said = {name: document[name] for name in (*FACTS, *(OF_RELEASE if kind is Calibration else ()), "half_precision")}
    said["classes"] = check_names(said["classes"], "classes")
    if kind is Simulation:
        check_model(said["model"])
    elif said["date"] is None:
        raise InputError("the date is missing")
    else:
        check_binding(*(said[name] for name in ("unit", "model", "dataset", "date")))
    score, targets = document["score"], document["targets"]
    if not isinstance(score, dict) or type(said["half_precision"]) is not bool:
        raise InputError("its score is not as a calibration writes it")
    if not isinstance(targets, list) or not targets or not all(isinstance(target, dict) for target in targets):
        raise InputError("its targets are not as a calibration writes them")
    planned = _planned(document, targets)
    if planned.per == DIAGNOSIS and planned.names != said["classes"]:
        raise InputError(f"there is not exactly one threshold for each {planned.per}")
    pairs = zip(targets, planned.targets, strict=True)
    drawn = tuple(_threshold(given["threshold"], target) for given, target in pairs)
    return kind(**said, score=score_from(score), drawn=drawn, **{name: getattr(planned, name) for name in PUBLIC})


def _current(document: dict[str, Any]) -> dict[str, Any]:
    """The document as this version would have written it."""
    if document.get("format") != FORMAT:
        raise _refusal("it is not a ppsets calibration")
    version = document.get("version")
    if type(version) is not int or version not in (VERSION - 1, VERSION):
        raise _refusal(f"its version is neither {VERSION - 1} nor {VERSION}, which this program reads")
    if version == VERSION:
        return document if ONE_SCORE.keys() & document.keys() else document | ONE_SCORE
    try:
        return _from_version_4(document)
    except (KeyError, TypeError, ValueError, ArithmeticError, InputError):
        raise _refusal("it is not as version 4 wrote it") from None


def _from_version_4(old: dict[str, Any]) -> dict[str, Any]:
    """Version 4 had no targets, knew one score, and called novelty familiarity."""
    one_each, beside = old["per"] is not None, old["familiarity"]
    thresholds = old["thresholds"] if one_each else {None: old["threshold"]}
    names = [None] if not one_each else old["classes"] if old["per"] == DIAGNOSIS else old["group_names"]
    kept = ("format", "kind", *FACTS, *PLANNED, *(OF_RELEASE if old["kind"] != "simulation" else ()))
    gone = {"version", "m", "gamma", "level", "rank", "groups", "group_names", "familiarity"}
    known = {*kept, *gone, "thresholds" if one_each else "threshold"}
    if old.keys() != known or list(thresholds) != names or old["groups"] != len(names):
        raise InputError("a field is unknown, or there is not one threshold for each")
    if not one_each and old["group_names"] != []:
        raise InputError("it names groups, and one threshold serves all")
    own = 0.0 if beside is None else beside["epsilon"]
    part = epsilon_less(check_epsilon(old["epsilon"]), own) if own else old["epsilon"]
    aim = {name: old[name] for name in ("alpha", "method", "m", "gamma", "level", "rank")}
    targets = [
        {"threshold": value, "quantity": SCORE, "of": of, "epsilon": part} | aim for of, value in thresholds.items()
    ]
    if beside is not None:
        level = None if beside["rank"] is None else beside["rank"] / old["n"]
        shared = {name: beside[name] for name in ("threshold", "alpha", "epsilon", "m", "rank")}
        targets.append({"quantity": NOVELTY, "of": None, "method": Sharp.name, "gamma": None, "level": level} | shared)
    return {name: old[name] for name in kept} | ONE_SCORE | {"version": VERSION, "targets": targets}


def _planned(document: dict[str, Any], targets: list[dict[str, Any]]) -> Plan:
    """The plan that n, α, ε, the rule and the bins of the targets lead to."""
    beside = targets[-1] if targets[-1]["quantity"] == NOVELTY else None
    thresholds = targets[:-1] if beside is not None else targets
    if not thresholds or (document["per"] is None and len(thresholds) > 1):
        raise InputError("there is not one threshold for all")
    own = 0.0 if beside is None else beside["epsilon"]
    whole = check_epsilon(document["epsilon"])
    if not _is_number(own) or not 0 <= own < whole:
        raise InputError("the epsilon of novelty is not a part of epsilon")
    choices = {"method": document["method"], "per": document["per"]}
    choices |= {name: thresholds[0][name] for name in ("m", "gamma")}
    if document["per"] is not None:
        names = [target["of"] for target in thresholds]
        choices["classes" if document["per"] == DIAGNOSIS else "groups"] = names
    part = epsilon_less(whole, own) if own else whole
    expected = replace(plan(document["n"], document["alpha"], part, **choices), epsilon=whole)
    if beside is None:
        return expected
    flagged, m = check_alpha(beside["alpha"]), check_m(beside["m"])
    target = novelty_target(expected.n, flagged, own, m) if own else Target(NOVELTY, None, flagged, 0.0, Sharp.name, m)
    if own and target.is_trivial:
        raise InputError("there are too few records for a novelty threshold")
    return replace(expected, targets=(*expected.targets, target))


def _agree(given: object, expected: object) -> bool:
    """Whether both say the same, but for the rounding of another machine."""
    if isinstance(expected, float):
        return _is_number(given) and math.isclose(given, expected, rel_tol=1e-9)
    if isinstance(expected, dict) and isinstance(given, dict):
        return given.keys() == expected.keys() and all(_agree(given[name], expected[name]) for name in expected)
    if isinstance(expected, list) and isinstance(given, list):
        return len(given) == len(expected) and all(map(_agree, given, expected))
    return type(given) is type(expected) and given == expected


def _is_number(given: object) -> TypeGuard[int | float]:
    return isinstance(given, int | float) and not isinstance(given, bool) and abs(given) < 1e300


def _threshold(threshold: object, target: Target) -> float:
    if not _is_number(threshold) or not 0 < threshold <= 1:
        raise InputError("the threshold is not a number above 0 and at most 1")
    value = float(threshold)
    if target.is_trivial and value != 1:
        raise InputError("the threshold of a trivial plan is 1")
    if int(bin_index(np.array(value), target.m)) / target.m != value:
        raise InputError("the threshold is not the edge of one of the m bins")
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
