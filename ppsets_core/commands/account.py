"""What a command that spends ε shares with the others: which ledger, whose account, what is left."""

import argparse
from pathlib import Path

from ppsets_core.commands import say
from ppsets_core.errors import LedgerError
from ppsets_core.ledger import Account, Ledger
from ppsets_core.ledger.amounts import shown
from ppsets_core.ledger.charging import Nameable, note_on_everyone
from ppsets_core.places import ledger_path

NAME_HELP = (
    "the data set's name (default: the {file}'s); it is kept in the ledger and its exports and must name no patient"
)
BUDGET_HELP = "total ε that any one patient of it may ever lose; needed the first time"


def add_ledger(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--ledger", type=Path, default=ledger_path(), help="ledger file (default %(default)s)")


def add_reason(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--reason", help="why, as the ledger and its exports keep it; it must name no patient")


def add_account(parser: argparse.ArgumentParser, file: str, only: str = "", *, again: bool = True) -> None:
    """The options of whom to charge; `only` begins their help where they belong to another option."""
    if again:
        parser.add_argument("--again", action="store_true", help=f"{only}pay and draw anew what was released before")
    parser.add_argument("--dataset", help=only + NAME_HELP.format(file=file))
    parser.add_argument("--budget", help=only + BUDGET_HELP)
    add_ledger(parser)
    add_reason(parser)


def payer(args: argparse.Namespace, stem: str, records: Nameable | None) -> tuple[Ledger, Account]:
    """The ledger and the account that pays; where records name no patient, say that everyone in it is charged.

    stem: the data set's name, unless --dataset says another. records: None where nothing will be charged."""
    ledger, name = Ledger(args.ledger), args.dataset or stem
    if (account := ledger.account_named(name, args.budget)) is None:
        raise LedgerError(f"'{name}' is new to the ledger; say with --budget how much ε a patient may lose in all.")
    if records is not None and (note := note_on_everyone(records, account.name)):
        say(note)
    return ledger, account


def say_budget(ledger: Ledger, account: Account, path: Path) -> None:
    """After a trivial plan a new account is not opened, and has all of its budget."""
    now = next((one for one in ledger.accounts() if one.name == account.name), account)
    say(
        f"Budget of '{now.name}': {shown(now.budget)}, of which releases under this name have cost {shown(now.spent)}. "
        f"Ledger: {path}"
    )
