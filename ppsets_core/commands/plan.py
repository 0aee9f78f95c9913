"""`plan`: what a calibration of n records would promise. Free: no data is read."""

import argparse
import json

from ppsets_core.commands.arguments import add_novelty, add_target, target
from ppsets_core.method.plan import DIAGNOSIS, Plan, plan
from ppsets_core.wording import familiar_or_not, guarantee, price_in_ranks, remedy

HELP = "show m*, γ*, level and guarantee for n records, α and ε; spends nothing"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--n", type=int, required=True, help="number of calibration records")
    parser.add_argument("--classes", type=int, help=f"number of diagnoses, for --per {DIAGNOSIS}")
    add_target(parser)
    add_novelty(parser)


def run(args: argparse.Namespace) -> int:
    chosen = plan(args.n, args.alpha, args.epsilon, classes=args.classes, **target(args))
    if args.json:
        print(json.dumps(chosen.document(), indent=2, ensure_ascii=False))
        return 0
    print("\n".join(_lines(chosen)))
    print(guarantee(chosen))
    if chosen.is_trivial:
        print(remedy(chosen))
    elif chosen.novelty is not None:
        print(familiar_or_not(chosen))
    return 0


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
