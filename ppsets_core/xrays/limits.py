"""Bounds on what one file may cost to read and decode, far above any real X-ray."""

import io
import math
import threading
from contextlib import AbstractContextManager, nullcontext
from typing import Literal, NamedTuple

from ppsets_core.errors import FileError

MAX_MEGABYTES = 100
MAX_BYTES = MAX_MEGABYTES * 1_000_000
MAX_MEGAPIXELS = 80  # Pillow warns from 89 on: nothing accepted here makes it warn
MAX_PIXELS = MAX_MEGAPIXELS * 1_000_000
LARGE_PIXELS = 20_000_000  # more than X-ray machines produce
MAX_FILES = 100_000
MAX_READS = 200_000  # an honest file of 100 MB needs some forty thousand
MAX_SCANS = 100  # a progressive JPEG has about ten, and each may cost a pass over the whole picture
MAX_SCANNED = 1_200_000_000  # pixels in all scans: a dozen scans of the largest picture
MAX_STRIPS = 200_000
ROOM_FOR_TILES, SMALL_PIXELS = 4, 2048 * 2048  # tiles may exceed the picture, and be larger than a small one

TOO_MANY_BYTES = f"Larger than {MAX_MEGABYTES} MB; export the X-ray at a smaller size."
TOO_MANY_PIXELS = f"Larger than {MAX_MEGAPIXELS} megapixels; export the X-ray at a smaller size."
SAVE_AGAIN = "Open it in a viewer and save it as PNG."
TOO_MANY_PARTS = f"It consists of more parts than any X-ray has. {SAVE_AGAIN}"

STRIPS = (273, 279, 324, 325)
WIDTH, HEIGHT, TILE_WIDTH, TILE_HEIGHT = 256, 257, 322, 323
KIND_OF_PAGE, SMALLER_COPY, MASK = 254, 1, 4
INTEGER_BYTES = {1: 1, 3: 2, 4: 4, 16: 8}  # TIFF's integer types
JPEG_FRAMES = set(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
JPEG_LS_FRAME = 0xF7

_one_large = threading.Lock()


def check_pixels(width: int, height: int) -> None:
    """Refuse a picture by the size in its header, before anything is decoded."""
    if width < 1 or height < 1:
        raise FileError("The picture has no pixels.")
    if width * height > MAX_PIXELS:
        raise FileError(TOO_MANY_PIXELS)


def room_for(width: int, height: int) -> AbstractContextManager:
    """Hold while decoding: only one picture far larger than any X-ray is decoded at a time."""
    return _one_large if width * height > LARGE_PIXELS else nullcontext()


class ReadLimitedBytes(io.BytesIO):
    """Bytes that raise FileError after too many reads, so that no decoder reads on for minutes."""

    def __init__(self, data: bytes, reads: int = MAX_READS) -> None:
        super().__init__(data)
        self.left = reads

    def read(self, size: int | None = -1, /) -> bytes:
        self.left -= 1
        if self.left < 0:
            raise FileError(TOO_MANY_PARTS)
        return super().read(size)


def check_scans(jpeg: bytes, width: int, height: int) -> None:
    """Refuse a JPEG with too many scans, counted by their marker, which compressed data cannot contain."""
    scans = jpeg.count(b"\xff\xda")
    if scans > MAX_SCANS or scans * width * height > MAX_SCANNED:
        raise FileError(f"It is drawn in {scans:,} scans, more than an X-ray of its size needs. {SAVE_AGAIN}")


def jpeg_size(jpeg: bytes) -> tuple[int, int]:
    """Width and height from the frame header, for any bit depth and for JPEG-LS; FileError without one."""
    at = 2
    while jpeg[at : at + 1] == b"\xff":
        marker = jpeg[at + 1]
        if marker == JPEG_LS_FRAME or marker in JPEG_FRAMES:
            return int.from_bytes(jpeg[at + 7 : at + 9], "big"), int.from_bytes(jpeg[at + 5 : at + 7], "big")
        at += 2 + max(2, int.from_bytes(jpeg[at + 2 : at + 4], "big"))
    raise FileError(f"Its compressed picture does not say how large it is. {SAVE_AGAIN}")


def check_tiff(tiff: bytes) -> None:
    """Refuse a TIFF with several pages, too many strips, or tiles far larger than the picture.

    Reads the directory before Pillow does: Pillow unpacks a list of strips whatever its length, and hides a tag that
    is given twice, of which libtiff uses the other."""
    entries, next_page = _tiff_directory(tiff)
    if next_page and not any(
        entry.tag == KIND_OF_PAGE and entry.value & (SMALLER_COPY | MASK)
        for entry in _tiff_directory(tiff, next_page)[0]
    ):
        raise FileError("It holds several pages; an X-ray has one. Save the page you mean.")
    if any(entry.tag in STRIPS and entry.values > MAX_STRIPS for entry in entries):
        raise FileError(f"It is cut into more than {MAX_STRIPS:,} strips, as no X-ray is. {SAVE_AGAIN}")
    sizes = [entry for entry in entries if entry.tag in (WIDTH, HEIGHT, TILE_WIDTH, TILE_HEIGHT)]
    size = {entry.tag: entry.value for entry in sizes}
    if len(size) < len(sizes) or any(entry.values != 1 or entry.kind not in INTEGER_BYTES for entry in sizes):
        raise FileError(f"Its directory declares its size inconsistently. {SAVE_AGAIN}")
    if size.keys() & {TILE_WIDTH, TILE_HEIGHT}:
        _check_tiles(size)


def _check_tiles(size: dict[int, int]) -> None:
    """A decoder allocates whole tiles, whatever the size of the picture."""
    width, height = size.get(WIDTH, 0), size.get(HEIGHT, 0)
    across, down = max(1, size.get(TILE_WIDTH, 0)), max(1, size.get(TILE_HEIGHT, 0))
    unpacked = math.ceil(width / across) * across * math.ceil(height / down) * down
    if unpacked > max(ROOM_FOR_TILES * width * height, SMALL_PIXELS):
        raise FileError(f"Its tiles are far larger than the picture. {SAVE_AGAIN}")


class _TiffEntry(NamedTuple):
    tag: int
    kind: int
    values: int  # how many
    value: int  # meaningful only for a single integer


def _tiff_directory(tiff: bytes, start: int = 0) -> tuple[list[_TiffEntry], int]:
    """Entries of the first page's directory, or of the one at `start`, and the offset of the next page or 0."""
    order: Literal["little", "big"] = "little" if tiff[:2] == b"II" else "big"

    def number(at: int, size: int) -> int:
        return int.from_bytes(tiff[at : at + size], order)

    is_big = number(2, 2) == 43
    wide, each, counted = (8, 20, 8) if is_big else (4, 12, 2)
    start = start or number(wide, wide)
    first = start + counted
    end = first + each * number(start, counted)
    entries = []
    for at in range(first, min(end, len(tiff), first + each * MAX_READS), each):
        kind = number(at + 2, 2)
        value = number(at + 4 + wide, INTEGER_BYTES.get(kind, 4))
        entries.append(_TiffEntry(number(at, 2), kind, number(at + 4, wide), value))
    return entries, number(end, wide)
