"""`--cluster`, `--workers` and their kin: where a verb does its work."""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ppsets_core.errors import InputError
from ppsets_core.run import IN_PROCESS, Executor, Tls, cluster, processes


def add_cluster(parser: argparse.ArgumentParser) -> None:
    where = parser.add_argument_group("in several processes or on a cluster (docs/scale.md)")
    where.add_argument(
        "--cluster", metavar="ADDRESS", help="a Dask scheduler: tls://host:8786, or tcp:// on this machine"
    )
    where.add_argument("--workers", type=int, metavar="N", help="instead: so many worker processes on this machine")
    where.add_argument("--tls-ca", type=Path, metavar="PEM", help="who signs the cluster's certificates")
    where.add_argument("--tls-cert", type=Path, metavar="PEM", help="this machine's certificate")
    where.add_argument("--tls-key", type=Path, metavar="PEM", help="its key")
    where.add_argument(
        "--insecure-network", action="store_true", help="allow tcp:// to another machine: only where nobody can listen"
    )


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
