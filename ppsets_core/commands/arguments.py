"""Arguments that several verbs share, and what they mean."""

import argparse
from pathlib import Path
from typing import Any

from ppsets_core.method.plan import DIAGNOSIS, NoveltyTarget
from ppsets_core.method.rules import DEFAULT, RULES
from ppsets_core.places import ledger_path


def add_target(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--alpha", type=float, default=0.1, help="share of diagnoses that may be missed (default 0.1)")
    parser.add_argument("--epsilon", type=float, required=True, help="privacy loss; smaller is more private")
    parser.add_argument("--method", choices=tuple(RULES), default=DEFAULT, help="rule (default %(default)s)")
    parser.add_argument("--m", type=int, help="number of bins (default: chosen)")
    parser.add_argument("--gamma", type=float, help="the paper's gamma (default: chosen)")
    parser.add_argument(
        "--per",
        metavar="WHAT",
        help=f"promise the coverage within each '{DIAGNOSIS}', or within each group of this column (with --groups)",
    )
    parser.add_argument("--groups", help="the groups of the --per column, separated by commas: --groups north,south")
    parser.add_argument("--json", action="store_true", help="JSON on standard output")


def target(args: argparse.Namespace) -> dict[str, Any]:
    """The choices that `plan` takes, but for the classes, which the records know."""
    groups = None if args.groups is None else [name.strip() for name in args.groups.split(",")]
    return {"method": args.method, "m": args.m, "gamma": args.gamma, "per": args.per, "groups": groups}


def add_novelty(parser: argparse.ArgumentParser, default: str) -> None:
    parser.add_argument(
        "--novelty-share",
        type=float,
        metavar="SHARE",
        help=f"share of ε for the threshold above which an X-ray is unlike the calibration's ({default})",
    )
    parser.add_argument(
        "--novelty-alpha",
        type=float,
        default=NoveltyTarget.alpha,
        metavar="RATE",
        help="share of X-rays like the calibration's that it may flag (default %(default)s)",
    )


def novelty_target(args: argparse.Namespace) -> NoveltyTarget:
    share = NoveltyTarget.share if args.novelty_share is None else args.novelty_share
    return NoveltyTarget(share, args.novelty_alpha)


def add_ledger(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--ledger", type=Path, default=ledger_path(), help="ledger file (default %(default)s)")


def add_reason(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--reason", help="why, as the ledger and its exports keep it; it must name no patient")
