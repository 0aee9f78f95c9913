"""A server that tells, when asked, what is alive in it: memory, browser sessions, long work."""

import ctypes
import json
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.browser.server import App, serve

COUNTED = Path(__file__).parent / "counted"


@dataclass(frozen=True)
class Alive:
    """What a server holds once all that can be collected is gone."""

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
