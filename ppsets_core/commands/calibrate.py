"""`calibrate`: charge the ledger, draw ŝ once, and write the calibration: the only thing that leaves."""

import argparse
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

from ppsets_core.commands import say
from ppsets_core.commands.options import (
    add_account,
    add_cluster,
    add_target,
    executor_for,
    names_in,
    payer,
    say_budget,
    target,
)
from ppsets_core.data import one_per_patient, read_scores
from ppsets_core.data.counts import DescribedRecords, plan_for, select
from ppsets_core.data.source import is_large, open_source, parts_in_words
from ppsets_core.errors import FileError, InputError
from ppsets_core.ledger import Ledger
from ppsets_core.method.calibration import Calibration
from ppsets_core.method.plan import DIAGNOSIS
from ppsets_core.progress import ProgressBar
from ppsets_core.run import IN_PROCESS, Executor
from ppsets_core.scores import OWN, SCORES, score_named
from ppsets_core.validation import listed
from ppsets_core.wording import familiar_or_not, guarantee, released, remedy, scope

HELP = "draw a private threshold from a score file and charge its ε to the data set's budget"
SCORES_HELP = "score file: CSV, TSV, NPY, NPZ, Parquet or JSON; or a folder of Parquet"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("scores", help=SCORES_HELP)
    add_target(parser)
    add_selection(parser)
    add_account(parser, "score file")
    parser.add_argument("--out", type=Path, help="where to write the calibration as JSON; must not exist yet")
    add_cluster(parser)


def add_selection(parser: argparse.ArgumentParser) -> None:
    """Options of which records of a score file are used."""
    parser.add_argument("--split", help="only the rows whose column `split` says this; training rows are never used")
    parser.add_argument("--all-records", action="store_true", help="use every record of a patient, not one (weaker)")
    parser.add_argument(
        "--score",
        help=f"how probabilities become scores (default lac), or what a column `score` holds: {', '.join(SCORES)}; "
        "'own' gives a threshold and no sets. Parameters follow a colon: raps:penalty=0.1,free_ranks=2",
    )
    parser.add_argument(
        "--classes",
        help=f"for --per {DIAGNOSIS}, where no columns name them: all diagnoses, separated by commas; `plan` with --n "
        "takes their number, too",
    )


def run(args: argparse.Namespace) -> int:
    if args.score is not None:
        score_named(args.score)
    with executor_for(args) as executor:
        return _release(args, records_to_use(args, executor))


def _release(args: argparse.Namespace, records: DescribedRecords) -> int:
    if args.score is None and records.score == OWN:
        raise InputError(
            f"{records.source} has scores, not probabilities. Say what they are: --score lac (1 − the probability of "
            "the true diagnosis) or another known score gives sets; --score own gives a threshold and no sets."
        )
    planned = plan_for(records, args.alpha, args.epsilon, **target(args))
    ledger, account = payer(args, Path(args.scores).stem, None if planned.is_trivial else records)
    out = _reserve(args.out)
    try:
        calibration = ledger.release(records, planned, account, reason=args.reason, again=args.again)
    except BaseException:
        if out:
            out.unlink(missing_ok=True)
        raise
    if out:
        try:
            out.write_text(calibration.to_json(), encoding="utf-8")
        except OSError as error:
            print(calibration.to_json(), end="")
            say(_not_written(ledger, account.name, calibration, error, args))
            return 2
    if args.json:
        print(calibration.to_json(), end="")
    else:
        print(released(calibration))
        print(guarantee(calibration))
        print(remedy(calibration) if calibration.is_trivial else scope(calibration))
        if calibration.novelty is not None and not calibration.is_trivial:
            print(familiar_or_not(calibration))
    say_budget(ledger, account, args.ledger)
    return 0


def records_to_use(args: argparse.Namespace, executor: Executor = IN_PROCESS) -> DescribedRecords:
    """The records to use: a small file in memory, anything else where it lies."""
    group = args.per if args.per not in (None, DIAGNOSIS) else None
    classes = () if args.classes is None else names_in(args.classes)
    how: dict[str, Any] = {"group": group, "split": args.split, "score": args.score, "classes": classes}
    if is_large(args.scores) or executor is not IN_PROCESS:
        source = open_source(args.scores, **how)
        choosing = ProgressBar("Choosing one record per patient")
        chosen = select(source, all_records=args.all_records, executor=executor, progress=choosing)
        say(_what_was_read(chosen.read, chosen.patient_count, chosen))
        return replace(chosen, progress=ProgressBar("Counting"))
    read = read_scores(args.scores, **how)
    if parts := parts_in_words(read.splits, read.left_out):
        say(parts if args.split else f"{parts} --split uses one of them.")
    records = read if args.all_records else one_per_patient(read)
    say(_what_was_read(len(read), read.patient_count, records))
    return records


def _not_written(
    ledger: Ledger, account: str, calibration: Calibration, error: OSError, args: argparse.Namespace
) -> str:
    """A release is paid for and in the ledger, whatever became of the file."""
    failed = f"ppsets: {args.out} could not be written ({error.strerror}). The calibration is on standard output."
    if calibration.is_trivial:
        return f"{failed} Nothing was charged."
    number = max(release.id for release in ledger.releases(account) if release.calibration == calibration)
    again = f"ppsets ledger export {number} --out FILE --ledger {shlex.quote(str(args.ledger))}"
    return f"{failed} It was charged to '{account}': do not calibrate again. `{again}` writes it again, free of charge."


def _what_was_read(read: int, patients: int | None, used: DescribedRecords) -> str:
    classes = f" Diagnoses: {listed(used.classes, 20)}." if used.classes else ""
    if patients is None:
        who = ", patients unknown: ε protects a record, which is a patient if each has one"
    elif used.unit == "patient":
        who = f" of {patients:,} patients; one of each is used, so ε protects the patient"
    else:
        who = f" of {patients:,} patients, all used, so ε protects one record: a patient with several loses several ε"
    return f"{read:,} records{who}.{classes}"


def _reserve(out: Path | None) -> Path | None:
    """Make the output file before anything is spent, so that a release is not drawn and then lost."""
    if out is None:
        return None
    try:
        out.open("x").close()
    except FileExistsError:
        raise FileError(f"{out} exists; choose another name. Nothing was spent.") from None
    except OSError as error:
        raise FileError(f"{out} cannot be written ({error.strerror}). Nothing was spent.") from None
    return out
