"""From stored DICOM values to shown greys: modality (rescale or table), then values of interest (table or window)."""

import math
from typing import Any, NamedTuple

import numpy as np
from pydicom.dataset import Dataset

from ppsets_core.errors import FileError
from ppsets_core.xrays.greyscale import unit_range


def shown_greys(stored: np.ndarray, dataset: Dataset, *, inverted: bool) -> np.ndarray:
    """Greys in [0, 1]. Linear steps are folded into one pair (black, white), so a full-range window changes no bit."""
    slope, intercept = _rescale(dataset)
    black, white = _stored_range(dataset)
    if tables := dataset.get("ModalityLUTSequence"):
        stored, white = _look_up(stored, tables[0])
        black, slope, intercept = 0, 1.0, 0.0
    curved = False
    if tables := dataset.get("VOILUTSequence"):
        stored, white = _look_up(np.rint(stored * slope + intercept), tables[0])
        black = 0
    elif window := _window(dataset):
        black, white = ((edge - intercept) / slope for edge in window)
        curved = _window_function(dataset) == "SIGMOID"
    elif slope < 0:
        black, white = white, black
    if inverted:
        black, white = white, black
    if not 1e-6 < abs(white - black) < 1e12:
        raise FileError("Its window or rescale values make no sense. Export it as PNG.")
    return _sigmoid(stored, black, white) if curved else unit_range(stored, black, white)


class Window(NamedTuple):
    """What a reader may turn: numbers are slope · stored + intercept, shown through a window as LINEAR defines it."""

    slope: float
    intercept: float
    centre: float
    width: float


def first_window(dataset: Dataset) -> Window | None:
    """The header's first window, else one over all that can be stored; None where a lookup table decides instead."""
    if dataset.get("ModalityLUTSequence") or dataset.get("VOILUTSequence"):
        return None
    slope, intercept = _rescale(dataset)
    edges = _window(dataset) or sorted(slope * value + intercept for value in _stored_range(dataset))
    black, white = edges
    return Window(slope, intercept, (black + white + 1) / 2, white - black + 1)


def _stored_range(dataset: Dataset) -> tuple[float, float]:
    values = 2 ** int(dataset.BitsStored)
    lowest = -values // 2 if dataset.PixelRepresentation else 0
    return lowest, lowest + values - 1


def _rescale(dataset: Dataset) -> tuple[float, float]:
    slope, intercept = _number(dataset.get("RescaleSlope")), _number(dataset.get("RescaleIntercept"))
    return (slope, intercept or 0.0) if slope else (1.0, intercept or 0.0)


def _window(dataset: Dataset) -> tuple[float, float] | None:
    """The values shown black and white by the first window (PS3.3 C.11.2.1.2), or None if there is no usable one."""
    centre, width = _number(dataset.get("WindowCenter")), _number(dataset.get("WindowWidth"))
    if centre is None or width is None:
        return None
    if _window_function(dataset) == "LINEAR":
        centre, width = centre - 0.5, width - 1
    return (centre - width / 2, centre + width / 2) if width > 0 else None


def _window_function(dataset: Dataset) -> str:
    return str(dataset.get("VOILUTFunction") or "LINEAR")


def _sigmoid(stored: np.ndarray, black: float, white: float) -> np.ndarray:
    """1/(1 + exp(−4(x − centre)/width))."""
    away = (np.asarray(stored, np.float32) - np.float32((black + white) / 2)) / np.float32(white - black)
    return 1 / (1 + np.exp(np.clip(-4 * away, -80, 80)))


def _look_up(values: np.ndarray, item: Dataset) -> tuple[np.ndarray, int]:
    """Values through a lookup table, and the table's white. Values outside the table take its nearest entry."""
    entries, first, bits = (int(v) for v in item.LUTDescriptor)
    data = item.LUTData
    if isinstance(data, bytes):
        data = np.frombuffer(data, np.uint8 if len(data) in (entries, entries + 1) else np.dtype("<u2"))
    table = np.asarray(data, np.float32)[: entries or 2**16]
    index = np.clip(np.asarray(values, np.int64) - first, 0, len(table) - 1)
    return table[index], 2**bits - 1


def _number(value: Any) -> float | None:
    """The first of possibly several decimal strings, if it is a finite number."""
    if value is None or value == "" or isinstance(value, str):
        return None
    number = float(value[0] if hasattr(value, "__getitem__") else value)
    return number if math.isfinite(number) else None
