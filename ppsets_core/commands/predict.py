"""`predict`: ranked prediction sets for X-rays, from a saved calibration."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ppsets_core.calibration import OTHER_MODEL, Calibration
from ppsets_core.commands.score import tell_refused
from ppsets_core.diagnosis import Answer, answers_of, counts, examine
from ppsets_core.errors import FileError
from ppsets_core.wording import MARGINAL, NOT_A_DEVICE
from ppsets_core.xrays import Refused, read_folder

if TYPE_CHECKING:
    from ppsets_core.network import XrayModel

HELP = "ranked prediction sets for X-rays, from a saved calibration"
NOTES = (MARGINAL, NOT_A_DEVICE)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("images", nargs="+", help="X-rays: files, a directory or a zip")
    parser.add_argument("--calibration", required=True, help="JSON that a calibration saved")
    parser.add_argument("--weights", help="safetensors file; else the bundled model")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")


def run(args: argparse.Namespace) -> int:
    """Prints the sets; pictures that do not look like chest X-rays are marked and not counted."""
    from ppsets_core.network import load_model

    calibration = Calibration.from_json(_text(args.calibration))
    folder = read_folder(args.images if len(args.images) > 1 else args.images[0], labels=False)
    model = load_model(args.weights)
    findings = examine(model, folder, thumbnails=False)
    tell_refused(findings.refused)
    if not findings.xrays:
        raise FileError("None of the pictures could be read. Usable are PNG, JPEG, TIFF and DICOM files.")
    answers = answers_of(findings, calibration.threshold)
    marks = _marks(calibration, model)
    if args.json:
        print(_as_json(answers, findings.refused, calibration, marks))
    else:
        print(_as_table(answers, calibration, marks))
    return 0


def _marks(calibration: Calibration, model: "XrayModel") -> list[str]:
    marks = []
    if calibration.model is not None and not calibration.is_for(model.fingerprint):
        marks.append(f"OTHER MODEL: {OTHER_MODEL}")
    if calibration.simulated:
        marks.append("SIMULATED calibration: the threshold was drawn for a trial and is not a private release.")
    if calibration.is_trivial:
        marks.append("TRIVIAL calibration: too few records, so every set holds every class.")
    return marks


def _as_json(answers: Sequence[Answer], refused: Sequence[Refused], calibration: Calibration, marks: list[str]) -> str:
    return json.dumps(
        {
            "threshold": calibration.threshold,
            "cutoff": calibration.cutoff,
            "alpha": calibration.alpha,
            "simulated": calibration.simulated,
            "trivial": calibration.is_trivial,
            "xrays": [
                {
                    "file": answer.finding.name,
                    "set": answer.members,
                    "probabilities": answer.probabilities,
                    "chest_xray": not answer.finding.doubt,
                    "reason": answer.finding.doubt,
                }
                for answer in answers
            ],
            "counts": counts(answers),
            "refused": [vars(item) for item in refused],
            "notes": [*marks, *NOTES],
        },
        ensure_ascii=False,
        indent=2,
    )


def _as_table(answers: Sequence[Answer], calibration: Calibration, marks: list[str]) -> str:
    width = max([4, *(len(answer.finding.name) for answer in answers)])
    lines = [*marks, f"{'file':<{width}}  prediction set, likeliest first"]
    for answer in answers:
        members = ", ".join(f"{name} {answer.probabilities[name]:.3f}" for name in answer.members)
        doubt = f"  [not counted: {answer.finding.doubt}]" if answer.finding.doubt else ""
        lines.append(f"{answer.finding.name:<{width}}  {members or 'none is likely enough'}{doubt}")
    number = counts(answers)
    lines.append(
        f"A class is in the set from a softmax of {calibration.cutoff:.4g} "
        f"(coverage at least {1 - calibration.alpha:g})."
    )
    lines.append(
        f"One diagnosis: {number['one']}. Several: {number['several']}. None: {number['none']}. "
        f"Not counted, no chest X-ray: {number['flagged']}."
    )
    return "\n".join([*lines, *NOTES])


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(
            f"{path} cannot be read as a calibration. Give the JSON file that a calibration saved."
        ) from error
