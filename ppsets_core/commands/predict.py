"""`predict`: ranked prediction sets for X-rays or a table of probabilities, from a saved calibration."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from ppsets_core.commands.cluster_options import add_cluster, executor_for, is_wanted
from ppsets_core.commands.files import saved_calibration, write_all_new, write_new
from ppsets_core.commands.progress_bar import ProgressBar
from ppsets_core.commands.score import tell_refused
from ppsets_core.commands.tables import WRITERS, in_lines, in_short, is_table, open_table, read_table, writer_for
from ppsets_core.data.source import is_data_set
from ppsets_core.diagnose import Answer, alarm_of, answers_of, counts, examine
from ppsets_core.diagnose.new_patients import json_of_sets, sets_of_new_patients
from ppsets_core.diagnose.patient_parts import write_sets
from ppsets_core.diagnose.provenance import Provenance
from ppsets_core.errors import FileError, InputError
from ppsets_core.files import Refused
from ppsets_core.method.calibration import Drawn, Simulation
from ppsets_core.novelty import Alarm
from ppsets_core.reports.batch import batch_report
from ppsets_core.reports.rows import table_report
from ppsets_core.reports.structured import WHO_IS_NAMED, structured_reports
from ppsets_core.wording import NOT_A_DEVICE, SIMULATED, TRIVIAL, meaning, scope
from ppsets_core.xrays import read_folder

HELP = "ranked prediction sets for X-rays or a table of a model's probabilities, from a saved calibration"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "images",
        nargs="+",
        help="X-rays (files, a directory or a zip), or one table of probabilities, a column a class; or a folder of "
        "Parquet, whose sets --out writes to a folder",
    )
    parser.add_argument("--calibration", required=True, help="JSON that a calibration saved")
    parser.add_argument("--group", help="the group that all these X-rays are of, if the calibration is per group")
    parser.add_argument("--weights", help="safetensors file; else the bundled model")
    parser.add_argument("--split", help="of a table: only the rows whose column `split` says this")
    parser.add_argument(
        "--out",
        type=Path,
        help="of a table: write all sets, as .csv, .parquet or .json; of a data set: a folder. Must not exist yet",
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument(
        "--report",
        type=Path,
        help="an HTML file to write, with every set, to print; with a check where true diagnoses come along",
    )
    parser.add_argument(
        "--sr", type=Path, help=f"a folder for a DICOM structured report of each DICOM X-ray. {WHO_IS_NAMED}"
    )
    add_cluster(parser)


def run(args: argparse.Namespace) -> int:
    """Prints the sets; pictures that do not look like chest X-rays are marked and not counted."""
    calibration = saved_calibration(args.calibration)
    if is_wanted(args) or (len(args.images) == 1 and is_data_set(args.images[0])):
        return _data_set(args, calibration)
    return _table(args, calibration) if is_table(args.images) else _xrays(args, calibration)


def _data_set(args: argparse.Namespace, calibration: Drawn) -> int:
    """Sets of more patients than fit into memory, or on a cluster."""
    if len(args.images) != 1 or args.out is None or args.out.suffix.casefold() in WRITERS:
        raise InputError("Of one data set the sets are written to a folder: give --out and a folder's name, as sets/.")
    if args.sr or args.report:
        raise InputError("--sr and --report are for X-rays and tables, not for a data set.")
    data_set = open_table(args.images[0], calibration, args.split)
    steps = ProgressBar("Finding sets")
    with executor_for(args) as executor:
        tally = write_sets(data_set, calibration, args.out, executor=executor, progress=steps)
    alarm = tally.alarm(calibration, data_set.model)
    marks = _marks_of_table(calibration, data_set.model, alarm)
    if args.json:
        origin = Provenance(calibration, data_set.model).document()
        notes = [*marks, scope(calibration), NOT_A_DEVICE]
        summary = {"out": str(args.out), "patients": len(tally), "counts": tally.counts()}
        told = {**summary, "novelty": alarm.document(), "notes": notes, "provenance": origin}
        print(json.dumps(told, ensure_ascii=False, indent=2))
    else:
        print(in_short(tally, calibration, marks, args.out))
    return 0


def _table(args: argparse.Namespace, calibration: Drawn) -> int:
    writer = None if args.out is None else writer_for(args.out)
    patients = read_table(args.images[0], calibration, args.split)
    sets, origin = sets_of_new_patients(patients, calibration), Provenance(calibration, patients.model)
    marks = _marks_of_table(calibration, patients.model, sets.alarm)
    if args.sr:
        raise InputError("--sr is for DICOM X-rays: a table's rows have no image to refer to.")
    if args.report:
        write_new(args.report, table_report(sets, origin))
    if writer is not None:
        write_new(args.out, writer(sets, origin))
    if args.json:
        print(json_of_sets(sets, origin, [*marks, scope(calibration), NOT_A_DEVICE]))
    else:
        print(in_lines(sets, marks))
    return 0


def _marks_of_table(calibration: Drawn, model: str | None, alarm: Alarm) -> list[str]:
    marks = _marks(calibration)
    if calibration.is_for(model) is None:
        marks.append("UNKNOWN MODEL: calibration and table do not both name their model; the two must belong together.")
    marks.append(f"ALARM: {alarm.words}" if alarm.is_on else alarm.words)
    return marks


def _xrays(args: argparse.Namespace, calibration: Drawn) -> int:
    from ppsets_core.model import load_model

    if args.out is not None or args.split is not None:
        raise InputError("--out and --split are for a table of probabilities; --json prints the sets of X-rays.")
    model = load_model(args.weights)
    given = args.images if len(args.images) > 1 else args.images[0]
    folder = read_folder(given, classes=model.classes, keep_unlabelled=True)
    calibration.check_fits(model.classes, model.fingerprint)
    findings = examine(model, folder, thumbnails=args.report is not None)
    tell_refused(findings.refused)
    if not findings.xrays:
        raise FileError("None of the pictures could be read. Usable are PNG, JPEG, TIFF and DICOM files.")
    answers = answers_of(findings, calibration, args.group)
    alarm = alarm_of(answers)
    marks = [*_marks(calibration), *([f"ALARM: {alarm.words}"] if alarm.is_on else [])]
    origin = Provenance(calibration, model.fingerprint, args.group)
    if args.report:
        write_new(args.report, batch_report(answers, origin, findings.refused))
    if args.sr:
        _write_structured_reports(args.sr, answers, origin)
    if args.json:
        print(_as_json(answers, findings.refused, origin, marks, alarm))
    else:
        print(_as_table(answers, calibration, marks, [] if alarm.is_on else [alarm.words]))
    return 0


def _write_structured_reports(folder: Path, answers: Sequence[Answer], origin: Provenance) -> None:
    reports = structured_reports(answers, origin)
    write_all_new(folder, reports)
    print(f"{len(reports):,} of {len(answers):,} X-rays have a structured report in {folder}.", file=sys.stderr)


def _marks(calibration: Drawn) -> list[str]:
    marks = []
    if isinstance(calibration, Simulation):
        marks.append(SIMULATED)
    if calibration.is_trivial:
        marks.append(TRIVIAL)
    return marks


def _as_json(
    answers: Sequence[Answer],
    refused: Sequence[Refused],
    origin: Provenance,
    marks: list[str],
    alarm: Alarm,
) -> str:
    calibration = origin.calibration
    return json.dumps(
        {
            **_thresholds(calibration),
            "alpha": calibration.alpha,
            "per": calibration.per,
            "simulated": isinstance(calibration, Simulation),
            "trivial": calibration.is_trivial,
            "xrays": [
                {
                    "file": answer.finding.name,
                    "set": answer.members,
                    "probabilities": answer.probabilities,
                    "chest_xray": not answer.finding.doubt,
                    "reason": answer.finding.doubt,
                    "familiar": answer.familiar,
                    "novelty": answer.finding.novelty,
                }
                for answer in answers
            ],
            "counts": counts(answers),
            "novelty": alarm.document(),
            "refused": [vars(item) for item in refused],
            "notes": [*marks, scope(calibration), NOT_A_DEVICE],
            "provenance": origin.document(),
        },
        ensure_ascii=False,
        indent=2,
    )


def _thresholds(calibration: Drawn) -> dict[str, object]:
    if calibration.per is None:
        return {"threshold": calibration.threshold, "cutoff": calibration.cutoff}
    by_name = dict(zip(calibration.names, calibration.thresholds, strict=True))
    return {"thresholds": by_name, "cutoffs": {name: 1 - value for name, value in by_name.items()}}


def _as_table(answers: Sequence[Answer], calibration: Drawn, marks: list[str], notes: list[str]) -> str:
    width = max([4, *(len(answer.finding.name) for answer in answers)])
    lines = [*marks, f"{'file':<{width}}  prediction set, likeliest first"]
    for answer in answers:
        members = ", ".join(f"{name} {answer.probabilities[name]:.3f}" for name in answer.members)
        doubt = f"  [flagged: {answer.finding.doubt}]" if answer.finding.doubt else ""
        unlike = f"  [{answer.unlike.lower()}]" if answer.unlike and not doubt else ""
        lines.append(f"{answer.finding.name:<{width}}  {members or 'none is likely enough'}{doubt}{unlike}")
    number = counts(answers)
    lines.append(f"{meaning(calibration)} Coverage at least {1 - calibration.alpha:g}.")
    lines.append(
        f"One diagnosis: {number['one']}. Several: {number['several']}. None: {number['none']}. "
        f"Flagged: {number['flagged']}."
    )
    return "\n".join([*lines, *notes, scope(calibration), NOT_A_DEVICE])
