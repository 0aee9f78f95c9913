"""Arguments that several verbs share."""

import argparse
from pathlib import Path

from ppsets_core.places import ledger_path
from ppsets_core.validation import METHODS


def add_target(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--alpha", type=float, default=0.1, help="share of diagnoses that may be missed (default 0.1)")
    parser.add_argument("--epsilon", type=float, required=True, help="privacy loss; smaller is more private")
    parser.add_argument("--method", choices=METHODS, default="paper", help="calibration rule (default paper)")
    parser.add_argument("--m", type=int, help="number of bins (default: chosen)")
    parser.add_argument("--gamma", type=float, help="the paper's gamma (default: chosen)")
    parser.add_argument("--json", action="store_true", help="JSON on standard output")


def add_ledger(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--ledger", type=Path, default=ledger_path(), help="ledger file (default %(default)s)")
