"""Long work in a thread of its own: it tells how far it is, can be asked to stop, and ends with whoever started it."""

import threading
import weakref
from collections.abc import Callable
from typing import Generic, TypeVar

Result = TypeVar("Result")


class Cancelled(Exception):
    """Raised within the work, at its next report, once it was asked to stop."""


class Report:
    """What the work tells: call it with (done, total), or set `stage` and append to `said`."""

    def __init__(self) -> None:
        self.done, self.total, self.stage = 0, 0, ""
        self.said: list = []
        self.stop = threading.Event()

    def __call__(self, done: int, total: int) -> None:
        self.done, self.total = done, total
        self.check()

    def check(self) -> None:
        """Raise Cancelled if the work was asked to stop."""
        if self.stop.is_set():
            raise Cancelled


class Job(Generic[Result]):
    """Starts `work(report)` at once. When the last reference to the job goes, the work is asked to stop."""

    def __init__(self, work: Callable[[Report], Result]) -> None:
        self.report = Report()
        self._outcome: list = []
        args = (work, self.report, self._outcome)
        self._thread = threading.Thread(target=_run, args=args, name="ppsets-job", daemon=True)
        weakref.finalize(self, self.report.stop.set)
        self._thread.start()

    @property
    def running(self) -> bool:
        return self._thread.is_alive()

    @property
    def share(self) -> float:
        """How much is done, in [0, 1]."""
        return min(1.0, self.report.done / self.report.total) if self.report.total else 0.0

    def cancel(self) -> None:
        self.report.stop.set()

    def wait(self, timeout: float | None = None) -> None:
        self._thread.join(timeout)

    def result(self) -> Result:
        """What the work returned, waiting for it; raises what the work raised, Cancelled if it was stopped."""
        self.wait()
        value, error = self._outcome[0]
        if error is not None:
            raise error
        return value


def _run(work: Callable[[Report], Result], report: Report, outcome: list) -> None:
    try:
        value = work(report)
    except BaseException as error:  # it belongs to whoever asks for the result, not to this thread
        outcome.append((None, error.with_traceback(None)))
    else:
        outcome.append((value, None))
