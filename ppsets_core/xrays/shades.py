"""Every grey of an X-ray's file, for the viewer: brighter or darker, or through another DICOM window."""

import math
from dataclasses import dataclass

import numpy as np

from ppsets_core.xrays.frame import Frame
from ppsets_core.xrays.limits import LARGE_PIXELS
from ppsets_core.xrays.picture import HEAD, decode, kind_of

DEEPEST = 2**16


@dataclass(frozen=True, eq=False)
class Shades:
    """`values` of 8 or 16 bits, where v stands for first + step · v in the file; the window to start with, as DICOM's
    LINEAR defines it; whether low numbers are bright; `framed`, the X-ray without its margins."""

    values: np.ndarray
    first: float
    step: float
    centre: float
    width: float
    inverted: bool
    windowed: bool  # the numbers and the window are DICOM's
    framed: Frame


def read_shades(data: bytes, name: str) -> Shades:
    """All greys of one file, thinned out above 20 megapixels; FileError for what `read_picture` would refuse."""
    picture = decode(data, name)
    thinned = math.ceil(math.sqrt(picture.grey.size / LARGE_PIXELS))
    framed = Frame(*(edge // thinned for edge in picture.frame))
    if kind_of(data[:HEAD]) == "DICOM" and (found := _windowed(data, thinned, framed)) is not None:
        return found
    grey = picture.grey[::thinned, ::thinned]
    white = 255 if _fits_8_bits(grey) else DEEPEST - 1
    values = np.rint(grey * white).astype(np.uint8 if white == 255 else np.uint16)
    width = (white + 1) / 2 ** unused_bits(grey)
    return Shades(values, 0, 1, width / 2, width, False, False, framed)


def unused_bits(grey: np.ndarray) -> int:
    """How many of the leading bits no pixel needs: 4 where 12 bits are kept in 16, which would look black as it is."""
    brightest = float(grey.max(initial=0))
    return int(-math.log2(brightest)) if brightest > 0 else 0


def _fits_8_bits(grey: np.ndarray) -> bool:
    scaled = grey * np.float32(255)
    return bool(np.abs(scaled - np.rint(scaled)).max(initial=0) < 1e-3)


def _windowed(data: bytes, thinned: int, framed: Frame) -> Shades | None:
    """A DICOM's stored values under its window; None if a lookup table or colours stand in between."""
    from ppsets_core.xrays.dicom import first_window, stored_values

    stored, dataset, inverted = stored_values(data)
    if stored.ndim != 2 or (window := first_window(dataset)) is None:
        return None
    stored = stored[::thinned, ::thinned]
    lowest = int(stored.min())
    if int(stored.max()) - lowest >= DEEPEST:
        return None
    values = (stored.astype(np.int64) - lowest).astype(np.uint16)
    slope, intercept, centre, width = window
    return Shades(values, slope * lowest + intercept, slope, centre, width, inverted, True, framed)
