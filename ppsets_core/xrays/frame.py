"""Where the X-ray lies in a picture: even margins, black, white or grey, are found and left out."""

from typing import NamedTuple

import numpy as np

EVEN = 0.05
"""A margin's pixels differ by less than this share of the picture's range of greys."""
ALIKE = 0.97
"""Share of a line's pixels that must be alike; a letter or a speck of dust in a margin does not make it an X-ray."""
MOST, PASSES = 0.35, 3
"""Share that one pass may take from an edge, and the passes: a white margin may lie around a black one."""
LOOKED_AT = 128


class Frame(NamedTuple):
    """The part of a picture that is looked at, in pixels: rows `top` to `bottom`, columns `left` to `right`."""

    top: int
    left: int
    bottom: int
    right: int

    def of(self, grey: np.ndarray) -> np.ndarray:
        """That part of the picture."""
        return grey[self.top : self.bottom, self.left : self.right]


def find_frame(grey: np.ndarray) -> Frame:
    """The picture without its even margins. Looks at every n-th pixel of a large picture: fast at any size."""
    steps = [max(1, side // LOOKED_AT) for side in grey.shape]
    small = grey[:: steps[0], :: steps[1]]
    black, white = np.percentile(small, (0.5, 99.5))
    tolerance = EVEN * (white - black)
    (top, left), (bottom, right) = (0, 0), small.shape
    for _ in range(PASSES):
        rest = small[top:bottom, left:right]
        if tolerance == 0 or min(rest.shape) < 8:
            break
        cuts = [_margin(lines, tolerance) for lines in (rest, rest[::-1], rest.T, rest.T[::-1])]
        top, bottom, left, right = top + cuts[0], bottom - cuts[1], left + cuts[2], right - cuts[3]
        if not any(cuts):
            break
    ends = [
        full if end == lines else (end - 1) * step + 1
        for full, end, lines, step in zip(grey.shape, (bottom, right), small.shape, steps, strict=True)
    ]
    return Frame(top * steps[0], left * steps[1], *ends)


def _margin(lines: np.ndarray, tolerance: float) -> int:
    """How many of the first lines look like the outermost one."""
    differ = (np.abs(lines - np.median(lines[0])) < tolerance).mean(axis=1) < ALIKE
    return min(int(differ.argmax()) if differ.any() else len(lines), int(MOST * len(lines)))
