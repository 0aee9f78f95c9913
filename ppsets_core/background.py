"""Long work in a thread: it reports progress, can be cancelled, and ends when nobody waits for it."""

import ctypes
import sys
import threading
import time
import weakref
from collections.abc import Callable
from typing import Generic, TypeVar

from ppsets_core.progress import Pace

Result = TypeVar("Result")
GRACE, ASKED_EVERY = 20.0, 1.0
"""Seconds: how long work goes on that nobody watches, and how often that is looked up."""


class Cancelled(Exception):
    """Raised within the work, at its next report, once it was asked to stop."""


class JobProgress(Pace):
    """What the work calls with (done, total); it may also set `stage` and append to `said`."""

    def __init__(self, is_watched: Callable[[], bool] | None = None) -> None:
        super().__init__()
        self.said: list = []
        self.stop = threading.Event()
        self._is_watched = is_watched
        self._seen = self._asked = time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        super().__call__(done, total)
        self.check()

    def check(self) -> None:
        """Raise Cancelled if the work was asked to stop, or nobody has watched it for a while."""
        now = time.monotonic()
        if self._is_watched is not None and now - self._asked >= ASKED_EVERY:
            self._asked = now
            if self._is_watched():
                self._seen = now
            elif now - self._seen >= GRACE:
                self.stop.set()
        if self.stop.is_set():
            raise Cancelled


class Job(Generic[Result]):
    """Starts `work(progress)` at once. The work is asked to stop when the last reference to the job goes, or when
    `is_watched` has said no for a while."""

    def __init__(self, work: Callable[[JobProgress], Result], is_watched: Callable[[], bool] | None = None) -> None:
        self.progress = JobProgress(is_watched)
        self._outcome: list = []
        args = (work, self.progress, self._outcome)
        self._thread = threading.Thread(target=_run, args=args, name="ppsets-job", daemon=True)
        weakref.finalize(self, self.progress.stop.set)
        self._thread.start()

    @property
    def running(self) -> bool:
        return self._thread.is_alive()

    @property
    def cancelled(self) -> bool:
        """Whether it was asked to stop; it may take a moment until it does."""
        return self.progress.stop.is_set()

    def cancel(self) -> None:
        self.progress.stop.set()

    def wait(self, timeout: float | None = None) -> None:
        self._thread.join(timeout)

    def result(self) -> Result:
        """Wait for what the work returns; raise what it raised, Cancelled if it was stopped."""
        self.wait()
        value, error = self._outcome[0]
        if error is not None:
            raise error
        return value


def _run(work: Callable[[JobProgress], Result], progress: JobProgress, outcome: list) -> None:
    try:
        value = work(progress)
    except BaseException as error:  # raised again by `result`
        outcome.append((None, error.with_traceback(None)))
    else:
        outcome.append((value, None))
    give_back()


def give_back() -> None:
    """Hand freed memory back to the system.

    glibc keeps what a thread freed for that thread's next need. Every job has its own thread, so what one batch of
    X-rays took would pile up beside what the next one takes."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # other C libraries do without
        if trim is not None:
            trim(0)
