"""Long work in a thread of its own: it tells how far it is, can be asked to stop, and ends with whoever started it."""

import threading
import time
import weakref
from collections.abc import Callable
from typing import Generic, TypeVar

from ppsets_core.memory import give_back

Result = TypeVar("Result")


class Cancelled(Exception):
    """Raised within the work, at its next report, once it was asked to stop."""


GRACE, ASKED_EVERY = 20.0, 1.0
"""Seconds: for how long nobody may watch before work is given up, and how often that is looked up."""
TELLING = 2.0
"""Seconds after which a pace tells how long the rest will take."""


class JobProgress:
    """What the work tells: call it with (done, total), or set `stage` and append to `said`."""

    def __init__(self, is_watched: Callable[[], bool] | None = None) -> None:
        self.done, self.total, self.stage = 0, 0, ""
        self.said: list = []
        self.stop = threading.Event()
        self._began: tuple[float, int] | None = None
        self._is_watched = is_watched
        self._seen = self._asked = time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        if self._began is None or total != self.total or done < self.done:
            self._began = (time.monotonic(), done)
        self.done, self.total = done, total
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

    @property
    def seconds_left(self) -> float | None:
        """At the pace so far; None while that tells nothing."""
        if self._began is None:
            return None
        began, first = self._began
        spent, did = time.monotonic() - began, self.done - first
        return None if did <= 0 or spent < TELLING else spent / did * (self.total - self.done)


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

    @property
    def share(self) -> float:
        """How much is done, in [0, 1]."""
        return min(1.0, self.progress.done / self.progress.total) if self.progress.total else 0.0

    def cancel(self) -> None:
        self.progress.stop.set()

    def wait(self, timeout: float | None = None) -> None:
        self._thread.join(timeout)

    def result(self) -> Result:
        """What the work returned, waiting for it; raises what the work raised, Cancelled if it was stopped."""
        self.wait()
        value, error = self._outcome[0]
        if error is not None:
            raise error
        return value


def _run(work: Callable[[JobProgress], Result], progress: JobProgress, outcome: list) -> None:
    try:
        value = work(progress)
    except BaseException as error:  # it belongs to whoever asks for the result, not to this thread
        outcome.append((None, error.with_traceback(None)))
    else:
        outcome.append((value, None))
    give_back()
