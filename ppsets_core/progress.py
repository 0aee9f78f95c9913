"""How far long work is: what it calls, and what a screen or a terminal shows of it."""

import time
from collections.abc import Callable

Progress = Callable[[int, int], None]
"""Called by long work with (done, total)."""
SETTLED = 2.0
"""Seconds after which the pace so far predicts how long the rest takes."""


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
