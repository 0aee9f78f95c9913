"""Reaching a cluster, safely: encrypted, or on this machine alone, unless one insists."""

import ipaddress
import logging
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ppsets_core.errors import ClusterError

if TYPE_CHECKING:
    from distributed import Client

MISSING = "A cluster needs Dask, which is not installed: pip install dask distributed cryptography"
SECONDS_TO_CONNECT = 20
KEEP_MEMORY = {"MALLOC_TRIM_THRESHOLD_": 1 << 28, "MALLOC_MMAP_THRESHOLD_": 1 << 25}
"""Dask has its workers give freed memory back at once; a network that asks for it again with every batch would spend a
third of its time on that."""


@dataclass(frozen=True)
class Tls:
    """Files in PEM format: who signs the cluster's certificates, and this machine's own certificate and key."""

    ca: Path
    cert: Path
    key: Path


NOTHING_ON_DISK = {"distributed.worker.memory.target": False, "distributed.worker.memory.spill": False}
"""Dask would write what does not fit into memory to temporary files."""


@contextmanager
def connected(
    address: str | None = None, *, workers: int | None = None, tls: Tls | None = None, insecure_network: bool = False
) -> Iterator["Client"]:
    """A client of the scheduler at `address` (tls://host:8786, tcp://…), or of so many worker processes here.

    Workers run whatever the scheduler passes on, and read the records: plain TCP to another machine is refused unless
    `insecure_network` says that the network itself is trusted. Processes of this machine talk to each other by TLS.
    """
    if find_spec("distributed") is None:
        raise ClusterError(MISSING)
    if (address is None) == (workers is None):
        raise ClusterError("Give the address of a scheduler, or a number of workers for this machine.")
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what matters is said as an error
    with _local(workers) if workers is not None else _remote(str(address), tls, insecure_network) as client:
        yield client


@contextmanager
def _local(workers: int) -> Iterator["Client"]:
    import dask.config
    from distributed import Client, LocalCluster
    from distributed.security import Security

    if workers < 1:
        raise ClusterError(f"There must be at least one worker, not {workers}.")
    options: dict[str, Any] = {"dashboard_address": None, "silence_logs": logging.CRITICAL}
    security = Security.temporary()
    with (
        dask.config.set({f"distributed.nanny.pre-spawn-environ.{name}": value for name, value in KEEP_MEMORY.items()}),
        dask.config.set(NOTHING_ON_DISK),
        LocalCluster(
            n_workers=workers, threads_per_worker=1, host="127.0.0.1", protocol="tls://", security=security, **options
        ) as cluster,
        Client(cluster, security=security, set_as_default=False) as client,
    ):
        yield client


@contextmanager
def _remote(address: str, tls: Tls | None, insecure_network: bool) -> Iterator["Client"]:
    from distributed import Client
    from distributed.security import Security

    check_address(address, tls, insecure_network)
    security = None
    if tls is not None:
        missing = [str(path) for path in (tls.ca, tls.cert, tls.key) if not path.is_file()]
        if missing:
            raise ClusterError(f"There is no file {missing[0]}: TLS needs the certificates and the key.")
        security = Security(
            tls_ca_file=str(tls.ca), tls_client_cert=str(tls.cert), tls_client_key=str(tls.key), require_encryption=True
        )
    try:
        client = Client(address, timeout=SECONDS_TO_CONNECT, security=security, set_as_default=False)
    except (OSError, ValueError, RuntimeError, TimeoutError) as error:
        raise ClusterError(
            f"No scheduler answers at {address} ({type(error).__name__}). Check the address, and that it runs."
        ) from None
    try:
        yield client
    finally:
        client.close(timeout=5)


def check_address(address: str, tls: Tls | None, insecure_network: bool) -> None:
    parts = urlsplit(address)
    try:
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if parts.scheme not in ("tcp", "tls") or not host or not port:
        raise ClusterError("A scheduler's address is like tls://host:8786, or tcp://127.0.0.1:8786 on this machine.")
    if parts.scheme == "tls" and tls is None:
        raise ClusterError(
            "tls:// needs --tls-ca, --tls-cert and --tls-key, the certificates and the key as PEM files."
        )
    if parts.scheme == "tcp" and not insecure_network and not is_this_machine(host):
        raise ClusterError(
            f"{host} is another machine, and tcp:// would send what workers count unencrypted, to whoever answers. "
            "Use tls://, or say --insecure-network if nobody else can reach that network."
        )


def is_this_machine(host: str) -> bool:
    """Whether the name stands for addresses of this machine alone."""
    try:
        found = {info[4][0] for info in socket.getaddrinfo(host, None)}
    except OSError:
        return False
    return bool(found) and all(ipaddress.ip_address(str(one)).is_loopback for one in found)
