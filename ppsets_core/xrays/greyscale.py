"""From a decoded Pillow image of any mode to grey in [0, 1] and the amount of colour."""

import numpy as np
from PIL import Image, ImageChops

from ppsets_core.errors import FileError

BITS_PER_SAMPLE, PHOTOMETRIC, WHITE_IS_ZERO = 258, 262, 0


def grey_and_chroma(image: Image.Image) -> tuple[np.ndarray, float]:
    """Luma over the full range of the file's type (never stretched per image), alpha over black, and mean max − min."""
    if image.mode.startswith("I;16"):
        return _deep_grey(image), 0.0
    if image.mode in ("I", "F"):
        raise FileError("Its greys are 32-bit or signed numbers of unknown range. Save it with 8 or 16 bits per pixel.")
    bands = _bands_over_black(image)
    if len(bands) == 1:
        return unit_range(np.asarray(bands[0]), 0, 255), 0.0
    luma = Image.merge("RGB", bands).convert("L")
    return unit_range(np.asarray(luma), 0, 255), _chroma(*bands)


def unit_range(values: np.ndarray, black: float, white: float) -> np.ndarray:
    """(values − black)/(white − black) in float32, clipped to [0, 1]; black may lie above white."""
    grey = np.subtract(values, np.float32(black), dtype=np.float32)
    grey /= np.float32(white - black)
    return np.clip(grey, 0, 1, out=grey)


def _deep_grey(image: Image.Image) -> np.ndarray:
    """16-bit greys; TIFF may use 12 of the 16 bits, and may count from white, which Pillow leaves as it is."""
    tags = getattr(image, "tag_v2", {})
    black, white = 0, 2 ** tags.get(BITS_PER_SAMPLE, (16,))[0] - 1
    if tags.get(PHOTOMETRIC) == WHITE_IS_ZERO:
        black, white = white, black
    values = np.asarray(image)
    grey = unit_range(values, black, white)
    transparent = image.info.get("transparency")
    if isinstance(transparent, int):
        grey[values == transparent] = 0
    return grey


def _bands_over_black(image: Image.Image) -> list[Image.Image]:
    """One grey band or three colour bands of 8 bits, each darkened by the alpha channel if there is one."""
    is_grey = image.mode in ("1", "L", "LA")
    if not image.has_transparency_data:
        return list(image.convert("L" if is_grey else "RGB").split())
    *bands, alpha = image.convert("LA" if is_grey else "RGBA").split()
    return [ImageChops.multiply(band, alpha) for band in bands]


def _chroma(red: Image.Image, green: Image.Image, blue: Image.Image) -> float:
    most = ImageChops.lighter(ImageChops.lighter(red, green), blue)
    least = ImageChops.darker(ImageChops.darker(red, green), blue)
    return float(np.asarray(ImageChops.subtract(most, least)).mean() / 255)
