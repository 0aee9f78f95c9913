"""Where the X-ray lies in a picture, and the square of it that the network, the gate and the heat map see."""

import math
from typing import NamedTuple

import numpy as np
from PIL import Image

EVEN = 0.05  # a margin's pixels differ by less than this share of the picture's range of greys
ALIKE = 0.97  # share of a line's pixels that must be alike: a letter or a speck of dust does not make it an X-ray
LARGEST_CUT, PASSES = 0.35, 3  # share that one pass may take from an edge: a white margin may lie around a black one
DARK, MIDDLE, BRIGHT = 1, 50, 99  # percentiles of the greys: the first becomes 0, the last 1
POWERS = (0.3, 3.5)  # that may move the middle grey
SAMPLED = 128  # about how many rows and columns of a large picture are looked at, which makes it fast at any size
REDUCING_GAP = 3  # a picture this many times larger than the square is thinned out by whole steps first


class Frame(NamedTuple):
    """A part of a picture, in pixels: rows `top` to `bottom`, columns `left` to `right`."""

    top: int
    left: int
    bottom: int
    right: int

    def of(self, grey: np.ndarray) -> np.ndarray:
        """That part of the picture."""
        return grey[self.top : self.bottom, self.left : self.right]


def find_frame(grey: np.ndarray) -> Frame:
    """The picture without its even margins, black, white or grey."""
    steps = [max(1, side // SAMPLED) for side in grey.shape]
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
    return min(int(differ.argmax()) if differ.any() else len(lines), int(LARGEST_CUT * len(lines)))


def to_model_square(
    grey: np.ndarray, side: int, frame: Frame | None = None, middle: tuple[float, float] = (0.5, 0.5)
) -> np.ndarray:
    """The framed part as side × side greys in [0, 1], float32, with its middle grey moved into `middle`.

    Bit depth, brightness, contrast, margins and, within limits, gamma make no difference. `frame` is `find_frame`'s, if
    already known."""
    part = (frame or find_frame(grey)).of(grey)
    rows, columns = (max(1, length // SAMPLED) for length in part.shape)
    black, between, white = np.percentile(part[::rows, ::columns], (DARK, MIDDLE, BRIGHT)).astype(np.float32)
    image = Image.fromarray(np.ascontiguousarray(part, dtype=np.float32))
    small = np.asarray(image.resize((side, side), Image.Resampling.BILINEAR, reducing_gap=REDUCING_GAP))
    even = np.clip((small - black) / np.float32(max(white - black, 1e-6)), 0, 1)
    return even ** np.float32(_power((between - black) / max(white - black, 1e-6), middle))


def _power(found: float, middle: tuple[float, float]) -> float:
    """The power that moves this grey into `middle`; 1 if it already lies there."""
    found = min(max(float(found), 0.05), 0.95)
    power = math.log(min(max(found, middle[0]), middle[1])) / math.log(found)
    return min(max(power, POWERS[0]), POWERS[1])
