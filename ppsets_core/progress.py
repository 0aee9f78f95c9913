"""Long work: how far it is, what a screen or a terminal shows of it, and work in a thread that can be cancelled."""

import ctypes
import sys
import threading
import time
import weakref
from collections.abc import Callable
from typing import Generic, TextIO, TypeVar

Result = TypeVar("Result")
Progress = Callable[[int, int], None]
"""Called by long work with (done, total)."""
SETTLED = 2.0
"""Seconds after which the pace so far predicts how long the rest takes."""
WIDTH, EVERY = 30, 0.2
"""Characters of a terminal's bar, and seconds between two drawings of it."""
GRACE, ASKED_EVERY = 20.0, 1.0
"""Seconds: how long work goes on that nobody watches, and how often that is looked up."""


class Pace:
    """A `Progress` that remembers: done, total, `stage` in words, and how long the rest takes."""

    def __init__(self, stage: str = "") -> None:
        self.done, self.total, self.stage = 0, 0, stage
        self._began: tuple[float, int] | None = None

    def __call__(self, done: int, total: int) -> None:
        if self._began is None or total != self.total or done < self.done:
            self._began = (time.monotonic(), done)
        self.done, self.total = done, total

    @property
    def share(self) -> float:
        """How much is done, in [0, 1]."""
        return min(1.0, self.done / self.total) if self.total else 0.0

    @property
    def seconds_left(self) -> float | None:
        """At the pace so far; None until it has settled."""
        if self._began is None:
            return None
        began, first = self._began
        spent, did = time.monotonic() - began, self.done - first
        return None if did <= 0 or spent < SETTLED else spent / did * (self.total - self.done)


class ProgressBar(Pace):
    """Call it with (done, total): it redraws one line, with the time left, and ends it when all is done."""

    def __init__(self, stage: str, stream: TextIO | None = None) -> None:
        super().__init__(stage)
        self._stream, self._drawn = stream or sys.stderr, float("-inf")

    def __call__(self, done: int, total: int) -> None:
        super().__call__(done, total)
        now, is_done = time.monotonic(), done >= total
        if not self._stream.isatty() or (now - self._drawn < EVERY and not is_done):
            return
        self._drawn = now
        filled = round(WIDTH * self.share)
        left = "" if is_done or self.seconds_left is None else f", {duration(self.seconds_left)} left"
        line = f"\r\033[K{self.stage} [{'#' * filled}{'.' * (WIDTH - filled)}] {done:,} of {total:,}{left}"
        print(line, end="\n" if is_done else "", file=self._stream, flush=True)


def duration(seconds: float) -> str:
    """A remaining time, rounded.

    >>> duration(3), duration(42), duration(100), duration(4000)
    ('a few seconds', 'about 40 seconds', 'about 2 minutes', 'about 1.1 hours')
    """
    if seconds < 10:
        return "a few seconds"
    if seconds < 90:
        return f"about {round(seconds, -1):.0f} seconds"
    return f"about {seconds / 60:.0f} minutes" if seconds < 3600 else f"about {seconds / 3600:.1f} hours"


# In a thread


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
