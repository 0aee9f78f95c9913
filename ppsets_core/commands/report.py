"""`report`: a saved calibration as a document to read, print and file, or as an entry for a public registry."""

import argparse
from pathlib import Path

from ppsets_core.commands.account import add_ledger
from ppsets_core.commands.files import saved_calibration, write_new
from ppsets_core.errors import InputError
from ppsets_core.ledger import Ledger
from ppsets_core.reports.calibration import calibration_report, payer_of
from ppsets_core.reports.registry import CURATOR_KINDS, Deployment, registry_yaml

HELP = "a saved calibration as an HTML page to print and file, or as an entry for OpenDP's registry of deployments"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("calibration", help="JSON that a calibration saved")
    parser.add_argument("--out", type=Path, help="the HTML file to write; must not exist yet")
    add_ledger(parser)
    registry = parser.add_argument_group("an entry for OpenDP's registry of differential privacy deployments")
    registry.add_argument("--registry", type=Path, help="the YAML file to write; needs the four that follow")
    registry.add_argument("--curator", help="who publishes the release")
    registry.add_argument("--kind", choices=CURATOR_KINDS, help="what the curator is, in the registry's words")
    registry.add_argument("--region", help="the region that the records are from")
    registry.add_argument("--author", help="who answers for the entry")


def run(args: argparse.Namespace) -> int:
    drawn = saved_calibration(args.calibration)
    if args.out is None and args.registry is None:
        raise InputError("Say what to write: --out report.html, or --registry entry.yaml.")
    if args.registry is not None:
        who = [args.curator, args.kind, args.region, args.author]
        if None in who:
            raise InputError("A registry entry needs --curator, --kind, --region and --author.")
        write_new(args.registry, registry_yaml(drawn, Deployment(*who)))
        print(f"Written: {args.registry}, a draft to read before it is sent.")
    if args.out is not None:
        payer = payer_of(drawn, Ledger(args.ledger)) if args.ledger.is_file() else None
        write_new(args.out, calibration_report(drawn, payer))
        print(f"Written: {args.out}. Print it from any browser.")
    return 0
