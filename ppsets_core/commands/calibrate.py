"""`calibrate`: charge the ledger, draw ŝ once, and write the calibration: the only thing that leaves."""

import argparse
import shlex
import sys
from pathlib import Path

from ppsets_core.calibration import Calibration
from ppsets_core.commands.arguments import add_ledger, add_target
from ppsets_core.errors import FileError, LedgerError
from ppsets_core.ledger import Ledger
from ppsets_core.ledger.amounts import amount, shown
from ppsets_core.ledger.ledger import RAISE
from ppsets_core.records import Records, one_per_patient, read_scores
from ppsets_core.wording import MARGINAL, guarantee, meaning, remedy

HELP = "Draw a private threshold from a score file and charge its ε to the data set's budget."
DATASET_HELP = (
    "the data set's name (default: the score file's); it is kept in the ledger and its exports and must name no patient"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("scores", help="score file: CSV, TSV, NPY, NPZ, Parquet or JSON")
    add_target(parser)
    parser.add_argument("--dataset", help=DATASET_HELP)
    parser.add_argument("--budget", help="total ε that the data set may ever spend; needed the first time")
    add_ledger(parser)
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
            unit=records.unit,
            uploaded=records.uploaded,
        )
    except BaseException:
        if out:
            out.unlink(missing_ok=True)
        raise
    if out:
        try:
            out.write_text(calibration.to_json(), encoding="utf-8")
        except OSError as error:
            print(calibration.to_json(), end="")
            _say(_not_written(ledger, dataset, calibration, error, args))
            return 2
    if args.json:
        print(calibration.to_json(), end="")
    else:
        print(meaning(calibration))
        print(guarantee(calibration.plan, calibration.unit))
        print(remedy(calibration.plan) if calibration.is_trivial else MARGINAL)
    left = ledger.dataset(dataset)
    _say(f"Left of the budget of '{dataset}': {shown(left.left)} of {shown(left.budget)}. Ledger: {args.ledger}")
    return 0


def _not_written(
    ledger: Ledger, dataset: str, calibration: Calibration, error: OSError, args: argparse.Namespace
) -> str:
    """A release is paid for and in the ledger, whatever became of the file."""
    failed = f"ppsets: {args.out} could not be written ({error.strerror}). The calibration stands on standard output."
    if calibration.is_trivial:
        return f"{failed} Nothing was charged."
    number = max(release.id for release in ledger.releases(dataset) if release.calibration == calibration)
    again = f"python -m ppsets_core ledger export {number} --out FILE --ledger {shlex.quote(str(args.ledger))}"
    return (
        f"{failed} It was charged to '{dataset}': do not calibrate again. `{again}` writes it once more, for nothing."
    )


def _what_was_read(uploaded: Records, records: Records) -> str:
    patients = uploaded.patient_count
    if patients is None:
        return f"{len(uploaded):,} records, patients unknown: ε protects a record, which is a patient if each has one."
    if len(records) == len(uploaded) > patients:
        return (
            f"{len(uploaded):,} records of {patients:,} patients, all used, so ε protects one record: "
            "a patient with several records loses up to several times as much."
        )
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
        raise LedgerError(
            f"The budget of '{known or name}' is {current} already; leave --budget out, or raise it {RAISE}."
        )
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
