"""`predict`: ranked prediction sets for X-rays or a table of probabilities, from a saved calibration."""

import argparse
import json
from pathlib import Path

from ppsets_core.commands import say, say_refused
from ppsets_core.commands.files import is_table, make_folder, new_patients, open_table, saved_calibration, write_new
from ppsets_core.commands.options import add_cluster, add_json, executor_for, is_wanted
from ppsets_core.data import read_scores
from ppsets_core.data.source import is_data_set
from ppsets_core.diagnose.exports import WRITERS, json_of, summary_of, write_sets
from ppsets_core.diagnose.set_table import Provenance, SetCounts, SetRow, SetTable, sets_of
from ppsets_core.diagnose.xrays import examine
from ppsets_core.errors import FileError, InputError
from ppsets_core.method.calibration import BaseCalibration, Simulation
from ppsets_core.progress import ProgressBar
from ppsets_core.reports.sets import sets_report
from ppsets_core.reports.structured import WHO_IS_NAMED, structured_reports
from ppsets_core.wording import NOT_A_DEVICE, SIMULATED, meaning, scope
from ppsets_core.xrays import read_folder

ROWS_SHOWN = 20
HELP = "ranked prediction sets for X-rays or a table of a model's probabilities, from a saved calibration"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "images", nargs="+", help="X-rays, a table of probabilities (a column a class), or a folder of Parquet"
    )
    parser.add_argument("--calibration", required=True, help="JSON that a calibration saved")
    parser.add_argument("--group", help="the group that all these X-rays are of, if the calibration is per group")
    parser.add_argument("--weights", help="safetensors file; else the bundled model")
    parser.add_argument("--split", help="of a table: only the rows whose column `split` says this")
    parser.add_argument(
        "--out", type=Path, help="new file for all sets: .csv, .parquet or .json; of a data set, a folder"
    )
    add_json(parser, "print JSON instead of a table")
    parser.add_argument(
        "--report", type=Path, help="new HTML file to print: every set, and a check where labels are known"
    )
    parser.add_argument("--sr", type=Path, help=f"folder for a structured report of each DICOM X-ray. {WHO_IS_NAMED}")
    add_cluster(parser)


def run(args: argparse.Namespace) -> int:
    """Print the sets; pictures that do not look like chest X-rays are marked and not counted."""
    calibration = saved_calibration(args.calibration)
    if is_wanted(args) or (len(args.images) == 1 and is_data_set(args.images[0])):
        return _data_set(args, calibration)
    if args.out is not None and args.out.suffix.casefold() not in WRITERS:
        raise FileError(f"{args.out}: sets are written as {', '.join(WRITERS)}; end the name in one of these.")
    sets = _of_table(args, calibration) if is_table(args.images) else _of_xrays(args, calibration)
    notes = _notes(sets.counts, sets.provenance())
    if args.report:
        write_new(args.report, sets_report(sets))
    if args.sr:
        reports = structured_reports(sets)
        make_folder(args.sr)
        for name, report in reports.items():
            write_new(args.sr / name, report)
        say(f"{len(reports):,} of {len(sets):,} X-rays have a structured report in {args.sr}.")
    if args.out is not None:
        write_new(args.out, WRITERS[args.out.suffix.casefold()](sets))
    if args.json:
        print(json_of(sets, [*notes, scope(calibration), NOT_A_DEVICE]))
    else:
        print("\n".join([*notes, *_lines(sets), *_in_all(sets.counts, calibration)]))
    return 0


def _data_set(args: argparse.Namespace, calibration: BaseCalibration) -> int:
    """Write the sets of a data set to a folder, part by part."""
    if len(args.images) != 1 or args.out is None or args.out.suffix.casefold() in WRITERS:
        raise InputError("Of one data set the sets are written to a folder: give --out and a folder's name, as sets/.")
    if args.sr or args.report:
        raise InputError("--sr and --report are for X-rays and tables, not for a data set.")
    data_set = open_table(args.images[0], calibration, args.split)
    with executor_for(args) as executor:
        counts = write_sets(data_set, calibration, args.out, executor=executor, progress=ProgressBar("Finding sets"))
    origin = Provenance(calibration, data_set.model)
    notes = _notes(counts, origin)
    if args.json:
        summary = summary_of(counts, origin, [*notes, scope(calibration), NOT_A_DEVICE])
        document = {"out": str(args.out), "written": len(counts), **summary}
        print(json.dumps(document, ensure_ascii=False, indent=2))
    else:
        written = f"{len(counts):,} sets are in {args.out}."
        print("\n".join([*notes, written, *_in_all(counts, calibration)]))
    return 0


def _of_table(args: argparse.Namespace, calibration: BaseCalibration) -> SetTable:
    if args.sr:
        raise InputError("--sr is for DICOM X-rays: a table's rows have no image to refer to.")
    return sets_of(read_scores(args.images[0], **new_patients(calibration, args.split)), calibration)


def _of_xrays(args: argparse.Namespace, calibration: BaseCalibration) -> SetTable:
    from ppsets_core.model import load_model

    if args.split is not None:
        raise InputError("--split is for a table of probabilities.")
    model = load_model(args.weights)
    given = args.images if len(args.images) > 1 else args.images[0]
    folder = read_folder(given, classes=model.classes, keep_unlabelled=True)
    calibration.check_fits(model.classes, model.fingerprint)
    found = examine(model, folder, thumbnails=args.report is not None)
    say_refused(found.refused)
    if not len(found):
        raise FileError("None of the pictures could be read. Usable are PNG, JPEG, TIFF and DICOM files.")
    return sets_of(found.records, calibration, group=args.group, xrays=found)


def _notes(counts: SetCounts, origin: Provenance) -> list[str]:
    """What a reader must know before the sets."""
    calibration = origin.calibration
    notes = [SIMULATED] if isinstance(calibration, Simulation) else []
    notes += [meaning(calibration)] if calibration.is_full else []
    if calibration.is_for(origin.model) is None:
        notes.append("UNKNOWN MODEL: calibration and probabilities do not both name their model; the two must match.")
    alarm = counts.alarm(calibration, origin.model)
    return [*notes, f"ALARM: {alarm.words}" if alarm.is_on else alarm.words]


def _lines(sets: SetTable) -> list[str]:
    """Every X-ray, or the first rows of a table."""
    shown = len(sets) if sets.xrays is not None else min(ROWS_SHOWN, len(sets))
    width = max([4, *map(len, sets.names[:shown])])
    lines = [f"{' '.join(sets.records.identifiers):<{width}}  prediction set, likeliest first"]
    lines += [f"{row.name:<{width}}  {_line(row)}" for row in map(sets.__getitem__, range(shown))]
    if shown < len(sets):
        lines.append(f"… and {len(sets) - shown:,} more: --out FILE writes all, as CSV, Parquet or JSON.")
    return lines


def _line(row: SetRow) -> str:
    mark = f"  [flagged: {row.doubt}]" if row.doubt else f"  [{row.caution}]" if row.caution else ""
    return f"{row.set_with_probabilities or 'none is likely enough'}{mark}"


def _in_all(counts: SetCounts, calibration: BaseCalibration) -> list[str]:
    flagged = f" Flagged: {counts.flagged:,}." if counts.flagged else ""
    return [
        f"{'' if calibration.is_full else meaning(calibration)} Coverage at least {1 - calibration.alpha:g}.".strip(),
        f"One diagnosis: {counts.one:,}. Several: {counts.several:,}. None: {counts.none:,}.{flagged}",
        scope(calibration),
        NOT_A_DEVICE,
    ]
