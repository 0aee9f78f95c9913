"""Calibration: the threshold and its public numbers, the only thing that leaves; and its strict JSON."""

import json
import math
import re
from dataclasses import dataclass, fields

from ppsets_core.bins import bin_index
from ppsets_core.errors import InputError
from ppsets_core.model_fingerprint import LENGTH
from ppsets_core.planning import Plan, plan

FORMAT, VERSION = "ppsets-calibration", 2
KINDS = {False: "release", True: "simulation"}
UNITS = ("patient", "record")
PUBLIC = tuple(field.name for field in fields(Plan))
NAMES = ("format", "version", "kind", "unit", "model", "threshold", *PUBLIC)
LONGEST = 10_000
REMEDY = "Use the JSON file that a calibration saved, unchanged."
OTHER_MODEL = (
    "This calibration was made with another model's scores, so its coverage does not hold for this one. "
    "Calibrate with this model, or use the weights that it was made with."
)


@dataclass(frozen=True)
class Calibration(Plan):
    """A plan carried out: the threshold ŝ with every public number behind it, all that leaves the building.

    A release was drawn by OpenDP and is ε-differentially private; a simulation, drawn by a seedable generator, is not.
    `unit`: what ε protects one of, a patient or a record. `model`: the fingerprint of the model behind the scores.
    """

    threshold: float
    simulated: bool
    unit: str
    model: str | None

    @property
    def plan(self) -> Plan:
        return Plan(**{name: getattr(self, name) for name in PUBLIC})

    @property
    def epsilon_spent(self) -> float:
        """What the release cost: ε, or nothing where the plan is trivial and the data was not touched."""
        return 0.0 if self.is_trivial or self.simulated else self.epsilon

    @property
    def cutoff(self) -> float:
        """The softmax that a class needs to be in the set: 1 − ŝ."""
        return 1 - self.threshold

    def is_for(self, model: str | None) -> bool | None:
        """Whether the scores were those of the model with this fingerprint; None where either is unknown."""
        return None if self.model is None or model is None else self.model == model

    def to_json(self) -> str:
        """The calibration as a JSON text that `from_json` takes back."""
        numbers = {name: getattr(self, name) for name in ("threshold", *PUBLIC)}
        header = {"format": FORMAT, "version": VERSION, "kind": KINDS[self.simulated]}
        binding = {"unit": self.unit, "model": self.model}
        return json.dumps(header | binding | numbers, indent=2, allow_nan=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> "Calibration":
        """Read strictly: anything missing, unknown, out of range or inconsistent is an InputError."""
        document = _parse(text)
        if document.get("format") != FORMAT:
            raise _refusal("it is not a ppsets calibration")
        if document.get("version") == 1:
            raise _refusal("it is of version 1, which does not say which model it is for and what its ε protects")
        if document.get("version") != VERSION or isinstance(document["version"], bool):
            raise _refusal(f"its version is not {VERSION}, the one that this program reads")
        for name in NAMES:
            if name not in document:
                raise _refusal(f"the field '{name}' is missing")
        if unknown := set(document) - set(NAMES):
            raise _refusal(f"it has {len(unknown)} field(s) that a calibration does not have")
        if document["kind"] not in KINDS.values():
            raise _refusal("its kind is neither release nor simulation")
        try:
            check_binding(document["unit"], document["model"])
            expected = plan(*(document[name] for name in ("n", "alpha", "epsilon")), **_choices(document))
        except (InputError, TypeError) as error:
            raise _refusal(str(error).rstrip(".")) from None
        for name in PUBLIC:
            if not _agree(document[name], getattr(expected, name)):
                raise _refusal(f"the field '{name}' does not follow from n, alpha, epsilon, method, m and gamma")
        _check_threshold(document["threshold"], expected)
        public = {name: getattr(expected, name) for name in PUBLIC}
        return cls(
            threshold=float(document["threshold"]),
            simulated=document["kind"] == KINDS[True],
            unit=document["unit"],
            model=document["model"],
            **public,
        )


def check_binding(unit: object, model: object) -> None:
    """What ε protects one of, and whose scores these are, before anything is spent."""
    if not isinstance(unit, str) or unit not in UNITS:
        raise InputError(f"unit must be one of {', '.join(UNITS)}.")
    if model is not None and not (isinstance(model, str) and re.fullmatch(f"[0-9a-f]{{{LENGTH}}}", model)):
        raise InputError(
            f"model must be a fingerprint of {LENGTH} hexadecimal digits, or left out where it is unknown."
        )


def _parse(text: str) -> dict:
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


def _choices(document: dict) -> dict:
    if document["m"] is None or (document["method"] == "paper" and document["gamma"] is None):
        raise InputError("m, and gamma for the paper's rule, must be numbers")
    return {name: document[name] for name in ("method", "m", "gamma")}


def _agree(given: object, expected: object) -> bool:
    if isinstance(expected, float):
        is_number = isinstance(given, int | float) and not isinstance(given, bool)
        return is_number and abs(given) < 1e300 and math.isclose(given, expected, rel_tol=1e-9)
    return type(given) is type(expected) and given == expected


def _check_threshold(threshold: object, expected: Plan) -> None:
    if isinstance(threshold, bool) or not isinstance(threshold, int | float) or not 0 < threshold <= 1:
        raise _refusal("the threshold is not a number above 0 and at most 1")
    if expected.is_trivial and threshold != 1:
        raise _refusal("the threshold of a trivial plan is 1")
    if int(bin_index(float(threshold), expected.m)) / expected.m != threshold:
        raise _refusal("the threshold is not the edge of one of the m bins")


def _no_constant(_: str) -> None:
    raise _refusal("it has a number that is not finite")


def _no_repeats(pairs: list[tuple[str, object]]) -> dict:
    if len({name for name, _ in pairs}) < len(pairs):
        raise _refusal("a field stands twice")
    return dict(pairs)


def _refusal(what: str) -> InputError:
    return InputError(f"This calibration cannot be used: {what}. {REMEDY}")
