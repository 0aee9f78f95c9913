"""A real cluster for tests: `dask scheduler` and `dask worker` processes, on this machine, by their own commands."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from distributed import Client

from tests.pages.driving import ROOT

ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class Cluster:
    """One scheduler and its workers, each of which can be killed."""

    def __init__(self, folder: Path, dashboard: bool = False) -> None:
        self.folder, self.port = folder, free_port()
        self.address = f"tcp://127.0.0.1:{self.port}"
        shown = ["--dashboard-address", f"127.0.0.1:{free_port() if dashboard else 0}"]
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", str(self.port), *shown)
        self.workers: list[subprocess.Popen] = []

    def add_worker(self) -> None:
        options = ["--no-nanny", "--nthreads", "1", "--dashboard-address", "127.0.0.1:0", "--host", "127.0.0.1"]
        self.workers.append(self._start("worker", self.address, *options))

    def wait_for_workers(self, number: int) -> None:
        """Until the scheduler answers and has so many; a busy machine may take its time."""
        end = time.monotonic() + 180
        while time.monotonic() < end:
            with suppress(OSError), Client(self.address, timeout=30, set_as_default=False) as client:
                client.wait_for_workers(number, timeout=120)
                return
            time.sleep(0.5)
        raise TimeoutError("no cluster within three minutes")

    def _start(self, *command: str) -> subprocess.Popen:
        log = (self.folder / f"{command[0]}-{time.monotonic_ns()}.log").open("w")
        return subprocess.Popen(
            [sys.executable, "-m", "dask", *command], cwd=self.folder, env=ENVIRONMENT, stdout=log, stderr=log
        )

    def stop(self) -> None:
        for process in (*self.workers, self.scheduler):
            kill(process)


def kill(process: subprocess.Popen) -> None:
    if process.poll() is None:
        process.send_signal(signal.SIGKILL)
    process.wait()


@contextmanager
def cluster_of(folder: Path, workers: int = 2, *, dashboard: bool = False) -> Iterator[Cluster]:
    cluster = Cluster(folder, dashboard)
    try:
        for _ in range(workers):
            cluster.add_worker()
        yield cluster
    finally:
        cluster.stop()
