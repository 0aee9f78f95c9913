"""What is said on standard error: sentences, what was left out, and, on a terminal, how far it is."""

import sys
import time
from collections.abc import Sequence
from typing import TextIO

from ppsets_core.files import Refused
from ppsets_core.progress import Pace
from ppsets_core.wording import duration

WIDTH, EVERY = 30, 0.2
"""Characters of the bar, and seconds between two drawings of it."""
MOST_REFUSED = 20


def say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


def say_refused(refused: Sequence[Refused]) -> None:
    """Name what was left out and why, the first few."""
    for item in refused[:MOST_REFUSED]:
        say(f"left out {item.name}: {item.reason}")
    if len(refused) > MOST_REFUSED:
        say(f"left out {len(refused) - MOST_REFUSED} more")


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
