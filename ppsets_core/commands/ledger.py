"""`ledger`: what every data set may spend and has spent, raising a budget, writing a release again, and the shelf."""

import argparse
import sys
from pathlib import Path

from ppsets_core.commands.files import write_new
from ppsets_core.commands.options import add_json, add_ledger, add_reason
from ppsets_core.errors import InputError, LedgerError
from ppsets_core.files.names import visible
from ppsets_core.ledger import Ledger, Release
from ppsets_core.ledger.accounts import TRAINING
from ppsets_core.ledger.amounts import amount, shown
from ppsets_core.ledger.export import covered_in_words, export_json, thresholds_in_words
from ppsets_core.method.calibration import Calibration

HELP = "budgets and releases: list them, raise a budget, write a release again, or publish it"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_ledger(parser)
    add_json(parser, "list as JSON")
    parser.set_defaults(action=_list)
    actions = parser.add_subparsers(metavar="ACTION", title="actions (without one: list accounts and releases)")
    raising = actions.add_parser("raise", help="set a larger budget, for good and on record")
    raising.add_argument("name", help="the data set's name in the ledger")
    raising.add_argument("budget", help="the new budget: total ε that any one patient may ever lose")
    add_reason(raising)
    raising.add_argument("--yes", action="store_true", help="do not ask")
    raising.set_defaults(action=_raise)
    export = actions.add_parser("export", help="write a release's calibration or check again; costs nothing")
    export.add_argument("id", type=int, help="the release's number, as the list shows it")
    export.add_argument("--out", type=Path, help="JSON file to write, which must not exist yet (default: stdout)")
    export.set_defaults(action=_export)
    publish = actions.add_parser("publish", help="put a release's calibration on the shelf, for every viewer to use")
    withdraw = actions.add_parser("withdraw", help="take a release off the shelf")
    for action, move in ((publish, _publish), (withdraw, _withdraw)):
        action.add_argument("id", type=int, help="the release's number, as the list shows it")
        add_reason(action)
        action.set_defaults(action=move)
    shelf = actions.add_parser("shelf", help="list the published calibrations")
    shelf.set_defaults(action=_shelf)
    for action in (raising, export, publish, withdraw, shelf):
        action.add_argument("--ledger", type=Path, default=argparse.SUPPRESS, help="ledger file")


def run(args: argparse.Namespace) -> int:
    if not args.ledger.exists():
        raise LedgerError(
            f"There is no ledger at {args.ledger}. The first calibration makes one; restore a lost one from a backup."
        )
    return args.action(Ledger(args.ledger), args)


def _list(ledger: Ledger, args: argparse.Namespace) -> int:
    if args.json:
        print(export_json(ledger))
        return 0
    print(f"Ledger: {args.ledger}")
    for account in ledger.accounts():
        print(
            f"\n{visible(account.name)}: budget {shown(account.budget)}, of which releases under this name have cost "
            f"{shown(account.spent)}"
        )
        print(ledger.loss_in_words(account.name))
        for release in ledger.releases(account.name):
            print(f"  {_line(release)}")
    return 0


def _raise(ledger: Ledger, args: argparse.Namespace) -> int:
    current, budget = ledger.account(args.name).budget, amount(args.budget)
    if not args.yes and budget > current:
        _confirm(f"Raise the budget of '{visible(args.name)}' from {shown(current)} to {shown(budget)}, for good?")
    raised = ledger.raise_budget(args.name, budget, reason=args.reason)
    print(f"The budget of '{visible(raised.name)}' is {shown(raised.budget)} now.")
    return 0


def _export(ledger: Ledger, args: argparse.Namespace) -> int:
    found = _release(ledger, args.id)
    if found.kind == TRAINING:
        raise LedgerError(f"Release {args.id} is a training: what came out is its weights, which are not kept here.")
    released = found.check or found.calibration
    if released is None:
        raise LedgerError(f"Release {args.id} was charged and has no threshold: it is being drawn or was interrupted.")
    if args.out is None:
        print(released.to_json(), end="")
        return 0
    write_new(args.out, released.to_json())
    print(f"Release {args.id}: {args.out}")
    return 0


def _publish(ledger: Ledger, args: argparse.Namespace) -> int:
    ledger.publish(_release(ledger, args.id), reason=args.reason)
    print(f"Release {args.id} is on the shelf: every viewer may use it.")
    return 0


def _withdraw(ledger: Ledger, args: argparse.Namespace) -> int:
    ledger.withdraw(_release(ledger, args.id), reason=args.reason)
    print(f"Release {args.id} is off the shelf. Copies that were downloaded before are still out there.")
    return 0


def _shelf(ledger: Ledger, args: argparse.Namespace) -> int:
    if not (published := ledger.published()):
        print("Nothing is published.")
    for one in published:
        print(
            f"no. {one.release}  {visible(str(one.calibration.dataset))}  {_drawn(one.calibration)}  "
            f"published {one.time}"
        )
    return 0


def _release(ledger: Ledger, number: int) -> Release:
    found = [release for release in ledger.releases() if release.id == number]
    if not found:
        raise LedgerError(f"The ledger has no release {number}. `ppsets ledger` lists them.")
    return found[0]


def _confirm(question: str) -> None:
    if not sys.stdin.isatty():
        raise InputError(f"{question} Say so with --yes. Nothing was changed.")
    print(f"{question} It lets more be learnt about every record. [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise InputError("Nothing was changed.")


def _line(release: Release) -> str:
    start = f"no. {release.id}  {release.time}  {release.kind}  ε = {shown(release.epsilon)}"
    if release.delta:
        start += f", δ = {shown(release.delta)}"
    if (check := release.check) is not None:
        return f"{start}  n = {check.n:,}, covered {covered_in_words(check)}, protects one {check.unit}"
    if (drawn := release.calibration) is None:
        return f"{start}  {release.status}"
    return f"{start}  {_drawn(drawn)}"


def _drawn(calibration: Calibration) -> str:
    return (
        f"{calibration.method}, α = {calibration.alpha:g}, n = {calibration.n:,}, "
        f"ŝ = {thresholds_in_words(calibration)}, protects one {calibration.unit}, "
        f"model {calibration.model or 'unknown'}"
    )
