"""Options that several verbs share: what to promise, who pays, and where to do the work."""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ppsets_core.commands import say
from ppsets_core.errors import InputError, LedgerError
from ppsets_core.ledger import Account, Ledger
from ppsets_core.ledger.amounts import shown
from ppsets_core.ledger.charging import Nameable, note_on_everyone
from ppsets_core.method.plan import DIAGNOSIS, NOVELTY_ALPHA
from ppsets_core.method.rules import DEFAULT, RULES
from ppsets_core.places import ledger_path
from ppsets_core.run import IN_PROCESS, Executor, Tls, cluster, processes

NAME_HELP = (
    "the data set's name (default: the {file}'s); it is kept in the ledger and its exports and must name no patient"
)
BUDGET_HELP = "total ε that any one patient of it may ever lose; needed the first time"


def add_target(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--alpha", type=float, default=0.1, help="share of diagnoses that may be missed (default 0.1)")
    parser.add_argument("--epsilon", type=float, required=True, help="privacy loss; smaller is more private")
    parser.add_argument("--method", choices=tuple(RULES), default=DEFAULT, help="rule (default %(default)s)")
    parser.add_argument("--m", type=int, help="number of bins (default: chosen)")
    parser.add_argument("--gamma", type=float, help="the paper's gamma (default: chosen)")
    parser.add_argument(
        "--per", help=f"promise coverage within each '{DIAGNOSIS}', or each group of a column (--groups)"
    )
    parser.add_argument("--groups", help="the groups of the --per column, separated by commas: --groups north,south")
    parser.add_argument(
        "--novelty-share", type=float, default=0, help="share of ε to mark unfamiliar X-rays (default 0)"
    )
    marked = "share of X-rays like the calibration's that may be marked (default %(default)s)"
    parser.add_argument("--novelty-alpha", type=float, default=NOVELTY_ALPHA, help=marked)
    add_json(parser)


def target(args: argparse.Namespace) -> dict[str, Any]:
    """The choices that `plan` takes, except the classes."""
    chosen = {name: getattr(args, name) for name in ("method", "m", "gamma", "per", "novelty_share", "novelty_alpha")}
    return chosen | {"groups": None if args.groups is None else names_in(args.groups)}


def names_in(text: str) -> tuple[str, ...]:
    """The names in a list that is separated by commas."""
    return tuple(name.strip() for name in text.split(","))


def add_json(parser: argparse.ArgumentParser, what: str = "JSON on standard output") -> None:
    parser.add_argument("--json", action="store_true", help=what)


def add_labels(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--labels", help="CSV with columns file,label[,patient]; else sub-folder names or a CSV inside")
    parser.add_argument("--split", help="only the X-rays with this value in the labels CSV's column `split`")


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


def add_cluster(parser: argparse.ArgumentParser) -> None:
    where = parser.add_argument_group("in several processes or on a cluster (docs/scale.md)")
    where.add_argument("--cluster", help="address of a Dask scheduler: tls://host:8786, or tcp:// on this machine")
    where.add_argument("--workers", type=int, metavar="N", help="instead: N worker processes on this machine")
    where.add_argument("--tls-ca", type=Path, metavar="PEM", help="who signs the cluster's certificates")
    where.add_argument("--tls-cert", type=Path, metavar="PEM", help="this machine's certificate")
    where.add_argument("--tls-key", type=Path, metavar="PEM", help="its key")
    where.add_argument("--insecure-network", action="store_true", help="allow tcp:// to other machines, unencrypted")


def is_wanted(args: argparse.Namespace) -> bool:
    return args.cluster is not None or args.workers is not None


@contextmanager
def executor_for(args: argparse.Namespace) -> Iterator[Executor]:
    """The executor that was asked for: this process, several, or a cluster."""
    if args.cluster is not None and args.workers is not None:
        raise InputError("Give --cluster or --workers, not both.")
    files = (args.tls_ca, args.tls_cert, args.tls_key)
    if any(files) and not all(files):
        raise InputError("TLS takes all three: --tls-ca, --tls-cert and --tls-key.")
    if args.cluster is not None:
        tls = Tls(*files) if all(files) else None
        with cluster(args.cluster, tls=tls, insecure_network=args.insecure_network) as found:
            yield found
    elif args.workers is not None:
        with processes(args.workers) as found:
            yield found
    else:
        yield IN_PROCESS
