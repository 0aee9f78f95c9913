"""`plan`: what a calibration would promise. Free: of a score file only the number of records is used."""

import argparse
import json

from ppsets_core.commands.calibrate import SCORES_HELP, add_selection, records_to_use
from ppsets_core.commands.options import add_target, names_in, target
from ppsets_core.data.counts import plan_for
from ppsets_core.errors import InputError
from ppsets_core.method.plan import Plan, plan
from ppsets_core.wording import familiar_or_not, guarantee, price_in_ranks, remedy

HELP = "show m*, γ*, level and guarantee for a score file or n records; spends nothing"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("scores", nargs="?", help=f"{SCORES_HELP}; its records are counted as `calibrate` does")
    parser.add_argument("--n", type=int, help="number of calibration records, without a score file")
    add_target(parser)
    add_selection(parser)


def run(args: argparse.Namespace) -> int:
    chosen, unit = _plan(args)
    if args.json:
        print(json.dumps(chosen.document(), indent=2, ensure_ascii=False))
        return 0
    print("\n".join(_lines(chosen)))
    print(guarantee(chosen, unit))
    if chosen.is_trivial:
        print(remedy(chosen))
    elif chosen.novelty is not None:
        print(familiar_or_not(chosen))
    return 0


def _plan(args: argparse.Namespace) -> tuple[Plan, str]:
    """The plan, and what ε would protect one of."""
    if (args.scores is None) == (args.n is None):
        raise InputError("Give a score file or --n, the number of records.")
    if args.scores is not None:
        records = records_to_use(args)
        return plan_for(records, args.alpha, args.epsilon, **target(args)), records.unit
    classes = int(args.classes) if str(args.classes).isdecimal() else args.classes and names_in(args.classes)
    return plan(args.n, args.alpha, args.epsilon, classes=classes, **target(args)), "record"


def _lines(chosen: Plan) -> list[str]:
    lines = [f"rule      {chosen.method}", f"bins      m = {chosen.m:,}"]
    if chosen.per is not None:
        lines.append(f"per       {chosen.per}, {chosen.groups} of them, ε = {chosen.threshold_epsilon / 2:g} in each")
    if chosen.gamma is not None:
        lines.append(f"gamma     γ = {chosen.gamma:.6g}")
    if chosen.rank is not None:
        lines.append(f"rank      k = {chosen.rank:,} of {chosen.n:,}")
    if chosen.level is not None:
        lines.append(f"level     {chosen.level:.6g}")
    lines.append(f"coverage  at least {chosen.coverage_lower:.6g}; {chosen.coverage_expected:.6g} if evenly spread")
    if not chosen.is_trivial and chosen.per is None:
        lines.append(f"price     {price_in_ranks(chosen):.1f} ranks above non-private calibration")
    return lines
