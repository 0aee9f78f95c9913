"""`plan`: what a calibration of n records would promise. Free: no data is read."""

import argparse
import json
from dataclasses import asdict

from ppsets_core.commands.arguments import add_target
from ppsets_core.planning import plan
from ppsets_core.wording import guarantee, price_in_ranks, remedy

HELP = "Show m*, γ*, level and guarantee for n records, α and ε; spends nothing."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--n", type=int, required=True, help="number of calibration records")
    add_target(parser)


def run(args: argparse.Namespace) -> int:
    chosen = plan(args.n, args.alpha, args.epsilon, method=args.method, m=args.m, gamma=args.gamma)
    if args.json:
        print(json.dumps(asdict(chosen) | {"is_trivial": chosen.is_trivial}, indent=2))
        return 0
    print(f"rule      {chosen.method}")
    print(f"bins      m = {chosen.m:,}")
    if chosen.gamma is not None:
        print(f"gamma     γ = {chosen.gamma:.6g}")
    if chosen.rank is not None:
        print(f"rank      k = {chosen.rank:,} of {chosen.n:,}")
    print(f"level     {chosen.level:.6g}")
    print(f"coverage  {chosen.coverage_lower:.6g} to {chosen.coverage_upper:.6g} (upper end: evenly spread scores)")
    if not chosen.is_trivial:
        print(f"price     {price_in_ranks(chosen):.1f} ranks above non-private calibration")
    print(guarantee(chosen))
    if chosen.is_trivial:
        print(remedy(chosen))
    return 0
