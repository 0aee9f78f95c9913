"""`predict`: ranked prediction sets for X-rays, from a saved calibration."""

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ppsets_core.commands.score import tell_refused
from ppsets_core.errors import FileError
from ppsets_core.wording import MARGINAL, NOT_A_DEVICE
from ppsets_core.xrays import Picture, Refused, XrayFolder

HELP = "ranked prediction sets for X-rays, from a saved calibration"
NOTES = (MARGINAL, NOT_A_DEVICE)


@dataclass(frozen=True)
class Answer:
    """One X-ray's ranked set; `gate` says why the picture does not look like a chest X-ray, '' if it does."""

    file: str
    ranked: tuple[tuple[str, float], ...]
    members: int
    gate: str

    @property
    def prediction_set(self) -> tuple[tuple[str, float], ...]:
        return self.ranked[: self.members]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("images", nargs="+", help="X-rays: files, a directory or a zip")
    parser.add_argument("--calibration", required=True, help="JSON that a calibration saved")
    parser.add_argument("--weights", help="safetensors file; else the bundled model")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")


def run(args: argparse.Namespace) -> int:
    """Prints the sets; pictures that do not look like chest X-rays are marked and not counted."""
    from ppsets_core import Calibration
    from ppsets_core.network import load_model
    from ppsets_core.xrays import read_folder

    calibration = Calibration.from_json(_text(args.calibration))
    folder = read_folder(args.images if len(args.images) > 1 else args.images[0], labels=False)
    answers, refused = answer(load_model(args.weights), folder, calibration.threshold)
    tell_refused(refused)
    if not answers:
        raise FileError("None of the pictures could be read. Usable are PNG, JPEG, TIFF and DICOM files.")
    print(_as_json(answers, refused, calibration) if args.json else _as_table(answers, calibration))
    return 0


def answer(model, folder: XrayFolder, threshold: float) -> tuple[list[Answer], list[Refused]]:
    """The ranked sets of a folder's X-rays and what could not be read, reading and predicting at the same time."""
    from ppsets_core import prediction_sets
    from ppsets_core.gate import check_chest_xray
    from ppsets_core.network import predict

    refused, gates = list(folder.refused), []

    def readable() -> Iterator[Picture]:
        for picture in folder.pictures(at_least=model.preprocessing.read_at_least):
            if isinstance(picture, Refused):
                refused.append(picture)
            else:
                gates.append((picture.name, check_chest_xray(picture).reason))
                yield picture

    probabilities = predict(model, readable())
    sizes = prediction_sets(probabilities, threshold).sum(axis=1) if len(probabilities) else []
    return [
        Answer(name, _ranked(model.classes, row), int(size), gate)
        for (name, gate), row, size in zip(gates, probabilities, sizes, strict=True)
    ], refused


def _ranked(classes: tuple[str, ...], row: np.ndarray) -> tuple[tuple[str, float], ...]:
    return tuple((classes[index], float(row[index])) for index in np.argsort(-row, kind="stable"))


def _counts(answers: list[Answer]) -> dict[str, int]:
    sizes = [item.members for item in answers if not item.gate]
    return {
        "one": sizes.count(1),
        "several": sum(size > 1 for size in sizes),
        "none": sizes.count(0),
        "not_a_chest_xray": len(answers) - len(sizes),
    }


def _marks(calibration) -> list[str]:
    marks = []
    if calibration.simulated:
        marks.append("SIMULATED calibration: the threshold was drawn for a trial and is not a private release.")
    if calibration.is_trivial:
        marks.append("TRIVIAL calibration: too few records, so every set holds every class.")
    return marks


def _as_json(answers: list[Answer], refused: list[Refused], calibration) -> str:
    return json.dumps(
        {
            "threshold": calibration.threshold,
            "cutoff": 1 - calibration.threshold,
            "alpha": calibration.alpha,
            "simulated": calibration.simulated,
            "trivial": calibration.is_trivial,
            "xrays": [
                {
                    "file": item.file,
                    "set": [name for name, _ in item.prediction_set],
                    "probabilities": dict(item.ranked),
                    "chest_xray": not item.gate,
                    "reason": item.gate,
                }
                for item in answers
            ],
            "counts": _counts(answers),
            "refused": [vars(item) for item in refused],
            "notes": [*_marks(calibration), *NOTES],
        },
        ensure_ascii=False,
        indent=2,
    )


def _as_table(answers: list[Answer], calibration) -> str:
    width = max([4, *(len(item.file) for item in answers)])
    lines = [*_marks(calibration), f"{'file':<{width}}  prediction set, likeliest first"]
    for item in answers:
        members = ", ".join(f"{name} {value:.3f}" for name, value in item.prediction_set)
        gate = f"  [not counted: {item.gate}]" if item.gate else ""
        lines.append(f"{item.file:<{width}}  {members or 'none is likely enough'}{gate}")
    counts = _counts(answers)
    lines.append(
        f"A class is in the set from a softmax of {1 - calibration.threshold:.4g} "
        f"(coverage at least {1 - calibration.alpha:g})."
    )
    lines.append(
        f"One diagnosis: {counts['one']}. Several: {counts['several']}. None: {counts['none']}. "
        f"Not counted, no chest X-ray: {counts['not_a_chest_xray']}."
    )
    return "\n".join([*lines, *NOTES])


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(
            f"{path} cannot be read as a calibration. Give the JSON file that a calibration saved."
        ) from error
