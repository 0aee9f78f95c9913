"""`score`: the model's probabilities for labelled X-rays, as a file that calibration takes."""

import argparse
import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path

from ppsets_core.commands import say, say_refused
from ppsets_core.commands.files import check_new, write_new
from ppsets_core.commands.options import add_cluster, add_json, add_labels, executor_for, is_wanted
from ppsets_core.errors import FileError, InputError
from ppsets_core.files import Refused
from ppsets_core.files.names import plain_cell
from ppsets_core.progress import ProgressBar
from ppsets_core.run import IN_PROCESS, map_tasks

HELP = "write the model's class probabilities for a folder of labelled X-rays"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", help="directory or zip of X-rays (PNG, JPEG, TIFF, DICOM)")
    add_labels(parser)
    parser.add_argument(
        "--out", required=True, help="new CSV file, or a folder for Parquet parts; repeating keeps them"
    )
    parser.add_argument("--weights", help="safetensors file; else the bundled model")
    add_json(parser, "print a summary as JSON")
    add_cluster(parser)


def run(args: argparse.Namespace) -> int:
    """Write the scores of what could be read and is labelled; name the rest on standard error."""
    out = Path(args.out)
    if is_wanted(args) or not out.suffix or out.is_dir():
        return _run_parts(args)
    if out.suffix.lower() != ".csv":
        raise InputError(f"--out {out}: scores are written as CSV (name it .csv), or as Parquet into a folder.")
    check_new(out)
    from ppsets_core.diagnose.novelty import NOT_OF_THESE
    from ppsets_core.model import load_model, predict_folder
    from ppsets_core.model.folder_records import known_labels, patients_note
    from ppsets_core.model.scored_parts import score_columns
    from ppsets_core.xrays import read_folder

    model = load_model(args.weights)
    folder = read_folder(args.folder, labels=args.labels, split=args.split, classes=model.classes)
    scores = predict_folder(model, folder, progress=ProgressBar("Scoring X-rays"))
    say_refused(scores.refused)
    numbers, unknown = known_labels(model, scores.names, scores.labels)
    say_refused(unknown)
    refused = (*scores.refused, *unknown)
    kept = [place for place, number in enumerate(numbers) if number >= 0]
    has_patients = None not in [scores.patients[place] for place in kept]
    columns = score_columns(model, scores, numbers, kept, has_patients)
    if note := patients_note(scores.patients):
        say(note)
    if scores.novelty is None:
        say(f"No novelty is written. {NOT_OF_THESE}")
    text, rows = io.StringIO(), [columns, *zip(*columns.values(), strict=True)]
    csv.writer(text).writerows([plain_cell(c) if isinstance(c, str) else repr(c) for c in row] for row in rows)
    write_new(out, text.getvalue())
    return _sum_up(args, len(kept), refused)


def _run_parts(args: argparse.Namespace) -> int:
    """Write a data set part by part; parts that are there are kept, so that a run may be stopped and repeated."""
    from ppsets_core.model import load_model
    from ppsets_core.model.folder_records import patients_note
    from ppsets_core.model.scored_parts import plan_parts, read_part, write_part, write_refused
    from ppsets_core.xrays import read_folder

    out = Path(args.out)
    if out.suffix and not out.is_dir():
        raise InputError(f"--out {out}: a cluster writes a folder of Parquet parts; give a folder's name, as scores/.")
    weights = None if args.weights is None else Path(args.weights).absolute()
    model = load_model(weights)
    folder = read_folder(args.folder, labels=args.labels, split=args.split, classes=model.classes)
    try:
        out.mkdir(parents=True, exist_ok=True)
        jobs = plan_parts(folder, model, weights, out)
        waiting = [job for job in jobs if not (job.path.exists() and read_part(job))]
        steps = ProgressBar(f"Parts scored, {len(jobs) - len(waiting)} of {len(jobs)} were there")
        with executor_for(args) as executor:
            tasks = [(job, executor is not IN_PROCESS) for job in waiting]
            for _ in map_tasks(write_part, tasks, executor, steps):
                pass
        parts = [read_part(job) for job in jobs]
        refused = [*folder.refused, *(one for _, left_out in parts for one in left_out)]
        write_refused(out, refused)
    except OSError as error:
        raise FileError(f"{out} cannot be written to ({error.strerror}). Choose a folder you may write to.") from error
    if note := patients_note([xray.patient for xray in folder.xrays]):
        say(note)
    say_refused(refused)
    rows = sum(number for number, _ in parts)
    if not rows:
        raise FileError("No X-ray could be scored: see what was left out, and why, above.")
    return _sum_up(args, rows, refused, len(jobs))


def _sum_up(args: argparse.Namespace, scored: int, refused: Sequence[Refused], parts: int | None = None) -> int:
    if args.json:
        written = {} if parts is None else {"parts": parts}
        print(json.dumps({"out": args.out, "scored": scored, **written, "refused": [vars(item) for item in refused]}))
    else:
        where = args.out if parts is None else f"{parts} parts in {args.out}"
        print(f"{scored} X-rays scored, {len(refused)} left out: {where}")
    return 0
