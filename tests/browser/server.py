"""The app as its users start it, on a free port, with a ledger of its own."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 60


@dataclass(frozen=True)
class App:
    """A server: its address, the folder of its ledger, its data directory, its log and its process."""

    url: str
    home: Path
    data: Path
    log: Path
    process: subprocess.Popen


@contextmanager
def serve(folder: Path, port: int | None = None, **environment: str) -> Iterator[App]:
    """Run the app while the block lasts; only the process started here is stopped."""
    port = port or free_port()
    home, data, log_file = folder / "home", folder / "data", folder / "log.txt"
    data.mkdir()
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.headless", "true"]
    environment = {**os.environ, "PPSETS_HOME": str(home), "PPSETS_DATA": str(data), **environment}
    with log_file.open("w") as log:
        process = subprocess.Popen(
            [*command, "--server.port", str(port)], cwd=ROOT, env=environment, stdout=log, stderr=subprocess.STDOUT
        )
        app = App(f"http://localhost:{port}", home, data, log_file, process)
        try:
            _wait_until_up(app)
            yield app
        finally:
            process.terminate()
            process.wait(timeout=20)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        return probe.getsockname()[1]


def _wait_until_up(app: App) -> None:
    for _ in range(START_SECONDS * 5):
        if app.process.poll() is not None:
            break
        try:
            with urllib.request.urlopen(f"{app.url}/_stcore/health", timeout=5):
                return
        except OSError:
            time.sleep(0.2)
    raise RuntimeError(f"The app did not start:\n{app.log.read_text()}")
