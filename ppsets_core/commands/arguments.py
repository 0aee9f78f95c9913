"""Arguments that several verbs share, and what they mean."""

import argparse
from typing import Any

from ppsets_core.method.plan import DIAGNOSIS, NOVELTY_ALPHA
from ppsets_core.method.rules import DEFAULT, RULES


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
    add_json(parser)


def target(args: argparse.Namespace) -> dict[str, Any]:
    """The choices that `plan` takes, but for the classes, which the records know."""
    groups = None if args.groups is None else [name.strip() for name in args.groups.split(",")]
    chosen = {name: getattr(args, name) for name in ("method", "m", "gamma", "per", "novelty_share", "novelty_alpha")}
    return chosen | {"groups": groups}


def add_novelty(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--novelty-share",
        type=float,
        default=0.0,
        metavar="SHARE",
        help="share of ε for a threshold above which an X-ray is unlike the calibration's (default 0: none)",
    )
    parser.add_argument(
        "--novelty-alpha",
        type=float,
        default=NOVELTY_ALPHA,
        metavar="RATE",
        help="share of X-rays like the calibration's that it may flag (default %(default)s)",
    )


def add_json(parser: argparse.ArgumentParser, what: str = "JSON on standard output") -> None:
    parser.add_argument("--json", action="store_true", help=what)


def add_labels(parser: argparse.ArgumentParser) -> None:
    """Of labelled X-rays, which are used."""
    parser.add_argument("--labels", help="CSV with columns file,label[,patient]; else sub-folder names or a CSV inside")
    parser.add_argument("--split", help="only the X-rays with this value in the labels CSV's column `split`")
