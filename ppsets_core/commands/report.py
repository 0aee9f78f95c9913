"""`report`: a saved calibration as a document to read, print and file."""

import argparse
from pathlib import Path

from ppsets_core.commands.files import saved_calibration, write_new
from ppsets_core.commands.options import add_ledger
from ppsets_core.ledger import Ledger
from ppsets_core.reports.calibration import calibration_report, payer_of

HELP = "a saved calibration as an HTML page to print and file"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("calibration", help="JSON that a calibration saved")
    parser.add_argument("--out", type=Path, required=True, help="the HTML file to write; must not exist yet")
    add_ledger(parser)


def run(args: argparse.Namespace) -> int:
    drawn = saved_calibration(args.calibration)
    payer = payer_of(drawn, Ledger(args.ledger)) if args.ledger.is_file() else None
    write_new(args.out, calibration_report(drawn, payer))
    print(f"Written: {args.out}. Print it from any browser.")
    return 0
