"""What is seen of a picture: its frame, stretched to a square, its greys made comparable. The one place that training,
prediction, the gate, novelty and the heat map share."""

import math

import numpy as np
from PIL import Image

from ppsets_core.xrays.frame import Frame, find_frame

DARK, MIDDLE, BRIGHT = 1, 50, 99
"""Percentiles of the greys: the first becomes 0, the last 1, and that between them the middle grey."""
CURVES = (0.3, 3.5)
"""The powers that may move the middle grey."""
LOOKED_AT = 128
ENOUGH = 3
"""A picture this many times larger than the square is thinned out by whole steps first, at no visible loss."""


def square(
    grey: np.ndarray, side: int, frame: Frame | None = None, middle: tuple[float, float] = (0.5, 0.5)
) -> np.ndarray:
    """The framed part as side × side greys in [0, 1], float32, its middle grey moved into `middle`: the same for any
    bit depth, brightness, contrast, margin and, so far, gamma. `frame` is `find_frame`'s, if that is known already."""
    part = (frame or find_frame(grey)).of(grey)
    black, grey_between, white = _levels(part)
    image = Image.fromarray(np.ascontiguousarray(part, dtype=np.float32))
    seen = np.asarray(image.resize((side, side), Image.Resampling.BILINEAR, reducing_gap=ENOUGH))
    even = np.clip((seen - black) / np.float32(max(white - black, 1e-6)), 0, 1)
    return even ** np.float32(_curve((grey_between - black) / max(white - black, 1e-6), middle))


def _levels(part: np.ndarray) -> np.ndarray:
    rows, columns = (max(1, side // LOOKED_AT) for side in part.shape)
    return np.percentile(part[::rows, ::columns], (DARK, MIDDLE, BRIGHT)).astype(np.float32)


def _curve(found: float, middle: tuple[float, float]) -> float:
    """The power that moves this grey into `middle`: 1 if it lies there."""
    found = min(max(float(found), 0.05), 0.95)
    power = math.log(min(max(found, middle[0]), middle[1])) / math.log(found)
    return min(max(power, CURVES[0]), CURVES[1])
