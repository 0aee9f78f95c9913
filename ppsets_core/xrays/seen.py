"""What is seen of a picture: its frame, stretched to a square, its greys made comparable. The one place that training,
prediction, the gate, familiarity and the heat map share."""

import math

import numpy as np
from PIL import Image

from ppsets_core.xrays.frame import Frame, find_frame

DARK, MIDDLE, BRIGHT = 1, 50, 99
"""Percentiles of the greys that become 0, ½ and 1."""
CURVES = (0.3, 3.5)
"""The powers that may bring the middle grey to ½."""
LOOKED_AT = 128
ENOUGH = 3
"""A picture this many times larger than the square is thinned out by whole steps first, at no visible loss."""


def square(grey: np.ndarray, side: int, frame: Frame | None = None) -> np.ndarray:
    """The framed part as side × side greys in [0, 1], float32: the same for any bit depth, brightness, contrast, margin
    and (nearly) gamma. `frame` is `find_frame`'s, if that is known already."""
    part = (frame or find_frame(grey)).of(grey)
    black, middle, white = _levels(part)
    image = Image.fromarray(np.ascontiguousarray(part, dtype=np.float32))
    seen = np.asarray(image.resize((side, side), Image.Resampling.BILINEAR, reducing_gap=ENOUGH))
    even = np.clip((seen - black) / np.float32(max(white - black, 1e-6)), 0, 1)
    return even ** np.float32(_curve((middle - black) / max(white - black, 1e-6)))


def _levels(part: np.ndarray) -> np.ndarray:
    rows, columns = (max(1, side // LOOKED_AT) for side in part.shape)
    return np.percentile(part[::rows, ::columns], (DARK, MIDDLE, BRIGHT)).astype(np.float32)


def _curve(middle: float) -> float:
    """The power that makes this grey ½."""
    power = math.log(0.5) / math.log(min(max(float(middle), 0.05), 0.95))
    return min(max(power, CURVES[0]), CURVES[1])
