"""The app as its users start it, on a free port, with an empty ledger; on request watched or counted."""

import ctypes
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
COUNTED, WATCHED = (Path(__file__).parent / name for name in ("counted", "watched"))
START_SECONDS = 120


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
            wait_until_up(app)
            yield app
        finally:
            process.terminate()
            process.wait(timeout=20)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        return probe.getsockname()[1]


def wait_until_up(app: App) -> None:
    for _ in range(START_SECONDS * 5):
        if app.process.poll() is not None:
            break
        try:
            with urllib.request.urlopen(f"{app.url}/_stcore/health", timeout=5):
                return
        except OSError:
            time.sleep(0.2)
    raise RuntimeError(f"The app did not start:\n{app.log.read_text()}")


@dataclass(frozen=True)
class Alive:
    """What a server holds after garbage collection."""

    megabytes: float
    sessions: int
    jobs: int


@contextmanager
def serve_counted(folder: Path, **environment: str) -> Iterator[tuple[App, Callable[[], Alive]]]:
    """The app, and a way to ask what is alive in it."""
    if not hasattr(ctypes.CDLL(None), "mallinfo2"):
        pytest.skip("What is allocated is asked of the GNU C library from 2.33 on.")
    notes = folder / "alive.json"
    with serve(folder, PYTHONPATH=str(COUNTED), COUNT_NOTES=str(notes), **environment) as app:

        def alive() -> Alive:
            notes.unlink(missing_ok=True)
            app.process.send_signal(signal.SIGUSR1)
            while not notes.exists():
                time.sleep(0.05)
            return Alive(**json.loads(notes.read_text()))

        yield app, alive


@contextmanager
def serve_watched(folder: Path) -> Iterator[tuple[App, Path]]:
    """The app with a temporary folder of its own, and the file in which its writes and connections are noted."""
    (folder / "tmp").mkdir()
    notes = folder / "notes.txt"
    environment = {"PYTHONPATH": str(WATCHED), "WATCH_NOTES": str(notes), "PYTHONDONTWRITEBYTECODE": "1"}
    with serve(folder, TMPDIR=str(folder / "tmp"), **environment) as app:
        yield app, notes


def written(notes: Path) -> set[str]:
    return {line.removeprefix("writes ") for line in notes.read_text().splitlines() if line.startswith("writes ")}


def left(notes: Path) -> list[str]:
    return [line for line in notes.read_text().splitlines() if line.startswith("leaves ")]


def record_requests(page) -> list[str]:
    """The address of everything that this browser session asks for from now on, sockets too."""
    asked: list[str] = []
    page.context.on("request", lambda request: asked.append(request.url))
    page.on("websocket", lambda socket: asked.append(socket.url.replace("ws:", "http:", 1)))
    return asked
