"""Where work is done: in this process, in several of this machine, or on a Dask cluster.

Every operation on many records is a function of one task. `map_tasks` runs it over all tasks; which executor it is
given decides where, and nothing else does. This is the one module that knows Dask.
"""

import concurrent.futures as cf
import ipaddress
import logging
import multiprocessing
import os
import socket
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from ppsets_core.errors import ClusterError, PpsetsError, need
from ppsets_core.progress import Progress

if TYPE_CHECKING:
    from distributed import Client

Result = TypeVar("Result")

SECONDS_TO_CONNECT = 20
PATIENCE = 20.0  # seconds without any worker, or without the scheduler
LOOK_EVERY = 0.2
GONE = "{what} is gone. Nothing was charged. Start it again and repeat the command."
FAILED = (
    "A task failed on the cluster ({error}). Workers need the same ppsets and the same folders as this machine, and "
    "enough memory. Nothing was charged."
)


class Executor:
    """Runs tasks in this process, one after the other; the other executors run several at once."""

    at_once = 1
    """How many tasks are handed out before the first result is waited for."""
    fragile = "This process"
    """What is gone where all tasks are lost at once."""

    def submit(self, function: Callable[..., Result], *arguments: Any) -> "cf.Future[Result]":
        future: cf.Future[Result] = cf.Future()
        try:
            future.set_result(function(*arguments))
        except Exception as error:
            future.set_exception(error)
        return future

    def check_alive(self) -> None:
        """Raise ClusterError where nobody is left to do the work."""


IN_PROCESS = Executor()


def map_tasks(
    function: Callable[..., Result],
    tasks: Iterable[tuple[Any, ...]],
    executor: Executor = IN_PROCESS,
    progress: Progress | None = None,
) -> Iterator[Result]:
    """Yield `function(*task)` for each task, in their order, while later ones are being worked on.

    The first task that is refused, in the order of the tasks, raises its error here, whichever worker was first.
    """
    given = list(tasks)
    waiting, pending = deque(given), deque[cf.Future[Result]]()
    try:
        for done in range(1, len(given) + 1):
            while waiting and len(pending) < executor.at_once:
                pending.append(executor.submit(function, *waiting.popleft()))
            yield _result(pending.popleft(), executor)
            if progress:
                progress(done, len(given))
    finally:
        for future in pending:
            future.cancel()


def sum_tasks(
    function: Callable[..., Result],
    tasks: Iterable[tuple[Any, ...]],
    executor: Executor = IN_PROCESS,
    progress: Progress | None = None,
) -> Result:
    """Add up what a function makes of each task."""
    results = map_tasks(function, tasks, executor, progress)
    total: Any = next(results)
    for one in results:
        total = total + one
    return total


def _result(future: "cf.Future[Result]", executor: Executor) -> Result:
    """Wait for a result; separate the cluster's failures from bad input."""
    while True:
        try:
            return future.result(timeout=LOOK_EVERY)
        except PpsetsError:
            raise
        except cf.TimeoutError as error:
            if future.done():
                raise ClusterError(FAILED.format(error=type(error).__name__)) from None
            executor.check_alive()
        except (cf.CancelledError, BrokenProcessPool):
            raise ClusterError(GONE.format(what=executor.fragile)) from None
        except Exception as error:
            if executor is IN_PROCESS:
                raise
            raise ClusterError(FAILED.format(error=type(error).__name__)) from None


class _Processes(Executor):
    """Worker processes of this machine."""

    fragile = "A worker process"

    def __init__(self, pool: cf.ProcessPoolExecutor, workers: int) -> None:
        self._pool, self.at_once = pool, 2 * workers

    def submit(self, function: Callable[..., Result], *arguments: Any) -> "cf.Future[Result]":
        try:
            return self._pool.submit(function, *arguments)
        except BrokenProcessPool:
            raise ClusterError(GONE.format(what=self.fragile)) from None


@contextmanager
def processes(workers: int) -> Iterator[Executor]:
    """Start so many worker processes, each on one core; they end with the block."""
    if workers < 1:
        raise ClusterError(f"There must be at least one worker, not {workers}.")
    context = multiprocessing.get_context("spawn")  # a fork of a process with threads may hang
    pool = cf.ProcessPoolExecutor(workers, mp_context=context, initializer=single_threaded)
    try:
        yield _Processes(pool, workers)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def single_threaded() -> None:
    """Keep this process to one core: several workers share a machine."""
    os.environ["OMP_NUM_THREADS"] = "1"


@dataclass(frozen=True)
class Tls:
    """PEM files: who signs the cluster's certificates, and this machine's own certificate and key."""

    ca: Path
    cert: Path
    key: Path


class Cluster(Executor):
    """A Dask cluster. Tasks of a worker that dies are done by another."""

    fragile = "The scheduler"

    def __init__(self, client: "Client") -> None:
        self.client, self._executor = client, client.get_executor(pure=False)
        self._alive = self._looked = time.monotonic()

    @property
    def at_once(self) -> int:  # type: ignore[override]
        return max(8, 4 * self.workers)

    @property
    def workers(self) -> int:
        """How many workers there are; 0 where the scheduler does not answer."""
        try:
            running = self.client.status == "running"
            return len(self.client.scheduler_info(n_workers=-1)["workers"]) if running else 0
        except (OSError, RuntimeError, TimeoutError, KeyError):
            return 0

    @property
    def dashboard(self) -> str | None:
        """The address of Dask's own dashboard, where it has one."""
        info = self.client.scheduler_info(n_workers=0)
        return self.client.dashboard_link if "dashboard" in info.get("services", {}) else None

    @property
    def is_connected(self) -> bool:
        return self.client.status == "running"

    def submit(self, function: Callable[..., Result], *arguments: Any) -> "cf.Future[Result]":
        return self._executor.submit(function, *arguments)

    def check_alive(self) -> None:
        now = time.monotonic()
        if now - self._looked < 1:
            return
        if now - self._looked > PATIENCE or self.workers:  # nobody has looked for a while: begin anew
            self._alive = now
        self._looked = now
        if now - self._alive > PATIENCE:
            raise ClusterError(GONE.format(what="Every worker" if self.is_connected else self.fragile))


@contextmanager
def cluster(address: str, *, tls: Tls | None = None, insecure_network: bool = False) -> Iterator[Cluster]:
    """Connect to the scheduler at `address` (tls://host:8786); plain TCP to another machine only if `insecure_network`.

    Workers run whatever the scheduler passes on, and read the records.
    """
    need("distributed")
    from distributed import Client

    check_address(address, tls, insecure_network)
    for name in ("distributed", "tornado.application"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # what matters is raised as an error
    try:
        client = Client(address, timeout=SECONDS_TO_CONNECT, security=_security(tls), set_as_default=False)
    except (OSError, ValueError, RuntimeError, TimeoutError) as error:
        raise ClusterError(
            f"No scheduler answers at {address} ({type(error).__name__}). Check the address, and that it runs."
        ) from None
    try:
        yield Cluster(client)
    finally:
        client.close(timeout=5)


def _security(tls: Tls | None) -> Any:
    from distributed.security import Security

    if tls is None:
        return None
    if missing := [str(path) for path in (tls.ca, tls.cert, tls.key) if not path.is_file()]:
        raise ClusterError(f"There is no file {missing[0]}: TLS needs the certificates and the key.")
    return Security(
        tls_ca_file=str(tls.ca), tls_client_cert=str(tls.cert), tls_client_key=str(tls.key), require_encryption=True
    )


def check_address(address: str, tls: Tls | None, insecure_network: bool) -> None:
    """Refuse an address that is malformed, or that would send counts unencrypted to another machine."""
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
    if parts.scheme == "tcp" and not insecure_network and not _is_this_machine(host):
        raise ClusterError(
            f"{host} is another machine, and tcp:// would send what workers count unencrypted. "
            "Use tls://, or say --insecure-network if nobody else can reach that network."
        )


def _is_this_machine(host: str) -> bool:
    try:
        found = {info[4][0] for info in socket.getaddrinfo(host, None)}
    except OSError:
        return False
    return bool(found) and all(ipaddress.ip_address(str(one)).is_loopback for one in found)
