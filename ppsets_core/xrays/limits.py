"""Bounds on what one file may cost, far above any real X-ray."""

from ppsets_core.errors import FileError

MAX_MEGABYTES = 100
MAX_BYTES = MAX_MEGABYTES * 1_000_000
MAX_MEGAPIXELS = 80  # Pillow warns from 89 on: nothing accepted here makes it warn
MAX_PIXELS = MAX_MEGAPIXELS * 1_000_000
MAX_FILES = 100_000

TOO_MANY_BYTES = f"Larger than {MAX_MEGABYTES} MB; export the X-ray at a smaller size."
TOO_MANY_PIXELS = f"Larger than {MAX_MEGAPIXELS} megapixels; export the X-ray at a smaller size."


def check_pixels(width: int, height: int) -> None:
    """Refuse by the size that the header announces, before anything is decoded."""
    if width < 1 or height < 1:
        raise FileError("The picture has no pixels.")
    if width * height > MAX_PIXELS:
        raise FileError(TOO_MANY_PIXELS)
