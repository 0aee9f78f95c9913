"""How far long work is: what it calls, and what a screen or a terminal shows of it."""

import sys
import time
from collections.abc import Callable
from typing import TextIO

Progress = Callable[[int, int], None]
"""Called by long work with (done, total)."""
SETTLED = 2.0
"""Seconds after which the pace so far predicts how long the rest takes."""
WIDTH, EVERY = 30, 0.2
"""Characters of a terminal's bar, and seconds between two drawings of it."""


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
