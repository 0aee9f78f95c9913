"""`calibrate`: charge the ledger, draw ŝ once, and write the calibration: the only thing that leaves."""

import argparse
import sys
from pathlib import Path

from ppsets_core.commands.arguments import add_target, default_ledger
from ppsets_core.errors import FileError, LedgerError
from ppsets_core.ledger import Ledger
from ppsets_core.ledger.amounts import amount, shown
from ppsets_core.reading import Records, one_per_patient, read_scores
from ppsets_core.wording import MARGINAL, guarantee, meaning, remedy

HELP = "Draw a private threshold from a score file and charge its ε to the data set's budget."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("scores", help="score file: CSV, TSV, NPY, NPZ, Parquet or JSON")
    add_target(parser)
    parser.add_argument("--dataset", help="the data set's name in the ledger (default: the file's name)")
    parser.add_argument("--budget", help="total ε that the data set may ever spend; needed the first time")
    parser.add_argument("--ledger", type=Path, default=default_ledger(), help="ledger file (default %(default)s)")
    parser.add_argument("--out", type=Path, help="where to write the calibration as JSON; must not exist yet")
    parser.add_argument("--all-records", action="store_true", help="use every record of a patient, not one (weaker)")


def run(args: argparse.Namespace) -> int:
    uploaded = read_scores(args.scores)
    records = uploaded if args.all_records else one_per_patient(uploaded)
    _say(_what_was_read(uploaded, records))
    ledger = Ledger(args.ledger)
    dataset = _account(ledger, records, args.dataset or Path(args.scores).stem, args.budget)
    out = _reserve(args.out)
    try:
        calibration = ledger.calibrate(
            dataset,
            records.scores,
            args.alpha,
            args.epsilon,
            method=args.method,
            m=args.m,
            gamma=args.gamma,
            uploaded=records.uploaded,
        )
        if out:
            out.write_text(calibration.to_json(), encoding="utf-8")
    except BaseException:
        if out:
            out.unlink(missing_ok=True)
        raise
    if args.json:
        print(calibration.to_json(), end="")
    else:
        print(meaning(calibration))
        print(guarantee(calibration.plan))
        print(remedy(calibration.plan) if calibration.is_trivial else MARGINAL)
    left = ledger.dataset(dataset)
    _say(f"Left of the budget of '{dataset}': {shown(left.left)} of {shown(left.budget)}.")
    return 0


def _what_was_read(uploaded: Records, records: Records) -> str:
    patients = uploaded.patient_count
    if patients is None:
        return f"{len(uploaded):,} records, patients unknown: ε protects a record, which is a patient if each has one."
    if len(records) == len(uploaded) > patients:
        return f"{len(uploaded):,} records of {patients:,} patients, all used: ε protects one record, not one patient."
    return f"{len(uploaded):,} records of {patients:,} patients; one of each is used, so ε protects the patient."


def _account(ledger: Ledger, records: Records, name: str, budget: str | None) -> str:
    """The account to charge: the one that knows these records, else the named one, opened if a budget is given."""
    known = ledger.dataset_of(records.uploaded)
    if known and known != name:
        _say(f"These records are in the ledger as '{known}'; that budget is charged.")
    if known is None and name not in {account.name for account in ledger.datasets()}:
        if budget is None:
            raise LedgerError(f"'{name}' is new to the ledger; say with --budget how much ε it may spend in all.")
        ledger.add(name, budget)
    elif budget is not None and amount(budget) != ledger.dataset(known or name).budget:
        current = shown(ledger.dataset(known or name).budget)
        raise LedgerError(f"The budget of '{known or name}' is {current} already; leave --budget out.")
    return known or name


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


def _say(sentence: str) -> None:
    print(sentence, file=sys.stderr)
