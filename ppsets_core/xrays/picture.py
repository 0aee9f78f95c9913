"""One X-ray from one file: PNG, JPEG, TIFF or DICOM, recognised by its first bytes, as grey in [0, 1]."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Literal

import numpy as np
from PIL import Image, ImageChops, ImageOps, JpegImagePlugin, PngImagePlugin, TiffImagePlugin

from ppsets_core.errors import FileError, MissingPackageError, need
from ppsets_core.files.handles import FileLike, name_of, read_bytes
from ppsets_core.files.names import shown_name
from ppsets_core.xrays import limits
from ppsets_core.xrays.frame import Frame, find_frame

Kind = Literal["PNG", "JPEG", "TIFF", "DICOM"]

HEAD = 132  # how many of a file's first bytes tell its format
PICTURES: tuple[tuple[bytes, Kind], ...] = (
    (b"\x89PNG\r\n\x1a\n", "PNG"),
    (b"\xff\xd8\xff", "JPEG"),
    (b"II*\0", "TIFF"),
    (b"MM\0*", "TIFF"),
    (b"II+\0", "TIFF"),
    (b"MM\0+", "TIFF"),
)
OTHERS = (
    (b"GIF8", "a GIF"),
    (b"%PDF", "a PDF"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"RIFF", "a WebP picture"),
)
PILLOW_FORMATS = tuple(
    plugin.format
    for plugin in (PngImagePlugin.PngImageFile, JpegImagePlugin.JpegImageFile, TiffImagePlugin.TiffImageFile)
)  # no rarer decoder can be reached
BITS_PER_SAMPLE, PHOTOMETRIC, WHITE_IS_ZERO = 258, 262, 0
UIDS = ("SOPClassUID", "SOPInstanceUID", "StudyInstanceUID", "SeriesInstanceUID")
PATIENT_AND_STUDY = (
    *("PatientID", "PatientName", "PatientBirthDate", "PatientSex"),
    *("AccessionNumber", "StudyID", "StudyDate", "StudyTime", "ReferringPhysicianName"),
)
NOBODY: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class Header:
    """DICOM's Modality, BodyPartExamined and ViewPosition, in capitals; empty where the file does not say.

    `identity`: what a structured report must repeat of its image, by DICOM keyword; empty if the image cannot be
    referred to. It names a patient: it is for that report only, and is never shown."""

    modality: str = ""
    body_part: str = ""
    view: str = ""
    identity: Mapping[str, str] = field(default_factory=lambda: NOBODY, repr=False)


NO_HEADER = Header()


@dataclass(frozen=True, eq=False)
class Picture:
    """A decoded X-ray: `grey` float32 (rows, columns) in [0, 1], bright = dense; `chroma` mean max − min of R, G, B;
    `header` from DICOM."""

    name: str
    grey: np.ndarray
    chroma: float
    header: Header = NO_HEADER

    @cached_property
    def frame(self) -> Frame:
        """The part that the network and the gate look at: all but even margins."""
        return find_frame(self.grey)


def read_picture(
    file: bytes | str | Path | FileLike, name: str | None = None, *, at_least: int | None = None
) -> Picture:
    """Decode one file.

    With `at_least`, a JPEG or a picture above 20 megapixels may come smaller, its shorter side still at least that many
    pixels."""
    name = shown_name(name or name_of(file) or "X-ray")
    try:
        return decode(read_bytes(file, limits.MAX_BYTES + 1), name, at_least)
    except FileError as error:
        raise FileError(f"{name}: {error}") from error.__cause__


def decode(data: bytes, name: str, at_least: int | None = None) -> Picture:
    """Decode bytes as `read_picture` does; the FileError's text is the reason alone, without the name."""
    if len(data) > limits.MAX_BYTES:
        raise FileError(limits.TOO_MANY_BYTES)
    if not (kind := kind_of(data[:HEAD])):
        raise FileError(why_not_a_picture(data[:HEAD]))
    try:
        if kind == "DICOM":
            need("pydicom")
            from ppsets_core.xrays.dicom import decode_dicom  # pydicom is slow to import; most folders do not need it

            grey, chroma, header = decode_dicom(data)
        else:
            (grey, chroma), header = _decode_with_pillow(data, kind, at_least), NO_HEADER
    except (FileError, MissingPackageError):
        raise
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise FileError(limits.TOO_MANY_PIXELS) from error
    except MemoryError as error:
        raise FileError("There is not enough memory to decode it; export the X-ray at a smaller size.") from error
    except Exception as error:  # decoders meet hostile bytes in ways no list of exceptions covers
        raise FileError(
            f"The {kind} file is cut off, damaged or of a rare variety. Export or copy it again, or save it as PNG."
        ) from error
    return Picture(name, _smaller(grey, at_least) if at_least else grey, chroma, header)


def kind_of(head: bytes) -> Kind | None:
    """The format that the first bytes announce, or None; a file's extension does not matter."""
    if head[128:132] == b"DICM" or _is_bare_dicom(head):
        return "DICOM"
    return next((kind for start, kind in PICTURES if head.startswith(start)), None)


def _is_bare_dicom(head: bytes) -> bool:
    """Old DICOM files lack the preamble and start with an element of group 0002 or 0008."""
    if len(head) < 16 or head[:2] not in (b"\x02\0", b"\x08\0") or head[3] != 0:
        return False
    explicit = head[4:6].isalpha() and head[4:6].isupper()
    return explicit or int.from_bytes(head[4:8], "little") <= 64


def why_not_a_picture(head: bytes) -> str:
    """A sentence for a file that `kind_of` does not know."""
    if not head:
        return "The file is empty."
    return f"Not a PNG, JPEG, TIFF or DICOM file{_resemblance(head)}. Save the X-ray in one of these formats."


def _resemblance(head: bytes) -> str:
    for start, what in OTHERS:
        if head.startswith(start):
            return f" but {what}"
    if head[4:8] == b"ftyp":
        return " but a HEIC or AVIF picture or a film"
    text = head.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "ignore")
    if not text.isprintable() and not all(c.isprintable() or c.isspace() for c in text):
        return ""
    return " but a web page or drawing (text)" if text.lstrip().startswith("<") else " but text"


def _smaller(grey: np.ndarray, at_least: int) -> np.ndarray:
    """Average blocks of a picture far larger than any X-ray, as several wait in memory to be classified."""
    factor = min(math.ceil(math.sqrt(grey.size / limits.LARGE_PIXELS)), min(grey.shape) // at_least)
    if factor < 2:
        return grey
    rows, columns = (side // factor for side in grey.shape)
    blocks = grey[: rows * factor, : columns * factor].reshape(rows, factor, columns, factor)
    return blocks.mean(axis=(1, 3), dtype=np.float32)


def _decode_with_pillow(data: bytes, kind: Kind, at_least: int | None) -> tuple[np.ndarray, float]:
    if kind == "TIFF":
        limits.check_tiff(data)
    with Image.open(limits.ReadLimitedBytes(data), formats=PILLOW_FORMATS) as image:
        limits.check_pixels(*image.size)
        if kind == "JPEG":
            limits.check_scans(data, *image.size)
        if isinstance(image, PngImagePlugin.PngImageFile) and image.is_animated:
            raise FileError(f"An animation of {image.n_frames} pictures; an X-ray has one. Save the one you mean.")
        if at_least:
            image.draft(None, (at_least, at_least))
        with limits.room_for(*image.size):
            image.load()
            _set_upright(image)
            return grey_and_chroma(image)


def _set_upright(image: Image.Image) -> None:
    """Undo the rotation and mirroring that EXIF names; unreadable EXIF counts as upright."""
    try:
        ImageOps.exif_transpose(image, in_place=True)
    except MemoryError:
        raise
    except Exception:
        return


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
