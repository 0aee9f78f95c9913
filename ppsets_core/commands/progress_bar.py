"""A progress bar on standard error, for people: nothing is written where nobody looks."""

import sys
from typing import TextIO

WIDTH = 30


class Bar:
    """Call it with (done, total); it redraws one line, and ends it when all is done."""

    def __init__(self, name: str, stream: TextIO | None = None) -> None:
        self._name, self._stream, self._shown = name, stream or sys.stderr, -1

    def __call__(self, done: int, total: int) -> None:
        percent = 100 * done // total
        if percent == self._shown or not self._stream.isatty():
            return
        self._shown = percent
        filled = WIDTH * done // total
        end = "\n" if done >= total else ""
        line = f"\r{self._name} [{'#' * filled}{'.' * (WIDTH - filled)}] {percent:3d}%"
        print(line, end=end, file=self._stream, flush=True)
