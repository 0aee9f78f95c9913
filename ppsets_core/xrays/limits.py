"""Bounds on what one file may cost, far above any real X-ray."""

import threading
from contextlib import AbstractContextManager, nullcontext

from ppsets_core.errors import FileError

MAX_MEGABYTES = 100
MAX_BYTES = MAX_MEGABYTES * 1_000_000
MAX_MEGAPIXELS = 80  # Pillow warns from 89 on: nothing accepted here makes it warn
MAX_PIXELS = MAX_MEGAPIXELS * 1_000_000
LARGE_PIXELS = 20_000_000  # above what X-ray machines give
MAX_FILES = 100_000

TOO_MANY_BYTES = f"Larger than {MAX_MEGABYTES} MB; export the X-ray at a smaller size."
TOO_MANY_PIXELS = f"Larger than {MAX_MEGAPIXELS} megapixels; export the X-ray at a smaller size."


def check_pixels(width: int, height: int) -> None:
    """Refuse by the size that the header announces, before anything is decoded."""
    if width < 1 or height < 1:
        raise FileError("The picture has no pixels.")
    if width * height > MAX_PIXELS:
        raise FileError(TOO_MANY_PIXELS)


_one_large = threading.Lock()


def room_for(width: int, height: int) -> AbstractContextManager:
    """Hold while decoding: a picture far larger than any X-ray waits until the last such one is decoded."""
    return _one_large if width * height > LARGE_PIXELS else nullcontext()
