"""One X-ray from one file: PNG, JPEG, TIFF or DICOM, told apart by content."""

import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from PIL import Image, JpegImagePlugin, PngImagePlugin, TiffImagePlugin

from ppsets_core.errors import FileError
from ppsets_core.files.handles import FileLike, name_of, read_bytes
from ppsets_core.files.names import shown_name
from ppsets_core.xrays.decoder_limits import FewReads, check_scans, check_tiff
from ppsets_core.xrays.formats import HEAD, Kind, kind_of, why_not_a_picture
from ppsets_core.xrays.frame import Frame, find_frame
from ppsets_core.xrays.greyscale import grey_and_chroma
from ppsets_core.xrays.header import NOTHING_SAID, Header
from ppsets_core.xrays.limits import (
    LARGE_PIXELS,
    MAX_BYTES,
    TOO_MANY_BYTES,
    TOO_MANY_PIXELS,
    check_pixels,
    room_for,
)

PILLOW_FORMATS = tuple(
    plugin.format
    for plugin in (PngImagePlugin.PngImageFile, JpegImagePlugin.JpegImageFile, TiffImagePlugin.TiffImageFile)
)  # no rarer decoder can be reached
ORIENTATION = 274


@dataclass(frozen=True, eq=False)
class Picture:
    """A decoded X-ray: `grey` float32 (rows, columns) in [0, 1], bright = dense; `chroma` mean max − min of R, G, B;
    `header` what its DICOM header says, if it has one."""

    name: str
    grey: np.ndarray
    chroma: float
    header: Header = NOTHING_SAID

    @cached_property
    def frame(self) -> Frame:
        """The part that the network and the gate look at: all but even margins."""
        return find_frame(self.grey)


def read_picture(
    file: bytes | str | Path | FileLike, name: str | None = None, *, at_least: int | None = None
) -> Picture:
    """Decode one file. With `at_least`, a JPEG or a picture above 20 megapixels may come smaller, its shorter side
    still at least that many pixels."""
    name = shown_name(name or name_of(file) or "X-ray")
    try:
        return decode(read_bytes(file, MAX_BYTES + 1), name, at_least)
    except FileError as error:
        raise FileError(f"{name}: {error}") from error.__cause__


def decode(data: bytes, name: str, at_least: int | None = None) -> Picture:
    """As `read_picture`, from bytes; the FileError's text is the reason alone, without the name."""
    if len(data) > MAX_BYTES:
        raise FileError(TOO_MANY_BYTES)
    if not (kind := kind_of(data[:HEAD])):
        raise FileError(why_not_a_picture(data[:HEAD]))
    try:
        if kind == "DICOM":
            grey, chroma, header = _decode_dicom(data)
        else:
            (grey, chroma), header = _decode_with_pillow(data, kind, at_least), NOTHING_SAID
    except FileError:
        raise
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise FileError(TOO_MANY_PIXELS) from error
    except MemoryError as error:
        raise FileError("There is not enough memory to decode it; export the X-ray at a smaller size.") from error
    except Exception as error:  # decoders meet hostile bytes in ways no list of exceptions covers
        raise FileError(_damaged(kind)) from error
    return Picture(name, _smaller(grey, at_least) if at_least else grey, chroma, header)


def _smaller(grey: np.ndarray, at_least: int) -> np.ndarray:
    """Means of squares, where a picture is far larger than any X-ray: several wait in memory to be classified."""
    factor = min(math.ceil(math.sqrt(grey.size / LARGE_PIXELS)), min(grey.shape) // at_least)
    if factor < 2:
        return grey
    rows, columns = (side // factor for side in grey.shape)
    squares = grey[: rows * factor, : columns * factor].reshape(rows, factor, columns, factor)
    return squares.mean(axis=(1, 3), dtype=np.float32)


def _damaged(kind: Kind) -> str:
    return f"The {kind} file is cut off, damaged or of a rare variety. Export or copy it again, or save it as PNG."


def _decode_dicom(data: bytes) -> tuple[np.ndarray, float, Header]:
    from ppsets_core.xrays.dicom import decode_dicom  # pydicom takes a moment to import; most folders do not need it

    return decode_dicom(data)


def _decode_with_pillow(data: bytes, kind: Kind, at_least: int | None) -> tuple[np.ndarray, float]:
    if kind == "TIFF":
        check_tiff(data)
    with Image.open(FewReads(data), formats=PILLOW_FORMATS) as image:
        check_pixels(*image.size)
        if kind == "JPEG":
            check_scans(data, *image.size)
        if isinstance(image, PngImagePlugin.PngImageFile) and image.is_animated:
            raise FileError(f"An animation of {image.n_frames} pictures; an X-ray has one. Save the one you mean.")
        if at_least:
            image.draft(None, (at_least, at_least))
        with room_for(*image.size):
            image.load()
            grey, chroma = grey_and_chroma(image)
        return _upright(grey, _orientation(image)), chroma


def _orientation(image: Image.Image) -> int:
    """EXIF's 1 to 8. Pillow turns TIFF itself and drops the tag; unreadable EXIF counts as upright."""
    try:
        return image.getexif().get(ORIENTATION, 1)
    except Exception:
        return 1


def _upright(grey: np.ndarray, orientation: int) -> np.ndarray:
    """Undo the rotation and mirroring that EXIF's orientation names."""
    if orientation in (5, 6, 7, 8):
        grey = grey.T
    if orientation in (2, 3, 6, 7):
        grey = grey[:, ::-1]
    if orientation in (3, 4, 7, 8):
        grey = grey[::-1]
    return np.ascontiguousarray(grey)
