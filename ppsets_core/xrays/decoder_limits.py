"""What a decoder may be put through by one file, whatever its size in pixels."""

import io
import math
from collections.abc import Iterator
from typing import Literal

from ppsets_core.errors import FileError

MAX_READS = 200_000  # an honest file of 100 MB needs some forty thousand
MAX_SCANS = 100  # a progressive JPEG has about ten, and each may cost a pass over the whole picture
MAX_SCANNED = 1_200_000_000  # pixels passed over in all: a dozen scans of the largest picture
MAX_STRIPS = 200_000
ROOM_FOR_TILES, SMALL_PIXELS = 4, 2048 * 2048  # tiles may stick out of the picture, and be larger than a small one
SAVE_AGAIN = "Open it in a viewer and save it as PNG."
TOO_MANY_PARTS = f"It consists of more parts than any X-ray has. {SAVE_AGAIN}"
STRIPS = (273, 279, 324, 325)
WIDTH, HEIGHT, TILE_WIDTH, TILE_HEIGHT = 256, 257, 322, 323
KIND_OF_PAGE, SMALLER_COPY, MASK = 254, 1, 4
JPEG_FRAMES = set(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
JPEG_LS_FRAME = 0xF7
WHOLE = {1: 1, 3: 2, 4: 4, 16: 8}  # the types of whole numbers, and their bytes


class FewReads(io.BytesIO):
    """Bytes that decoders, which read them part by part, cannot be kept reading for minutes."""

    def __init__(self, data: bytes, most: int = MAX_READS) -> None:
        super().__init__(data)
        self.left = most

    def read(self, size: int | None = -1, /) -> bytes:
        self.left -= 1
        if self.left < 0:
            raise FileError(TOO_MANY_PARTS)
        return super().read(size)


def check_scans(jpeg: bytes, width: int, height: int) -> None:
    """A JPEG's scans, counted by their marker, which compressed data cannot contain, and the pixels they pass over."""
    scans = jpeg.count(b"\xff\xda")
    if scans > MAX_SCANS or scans * width * height > MAX_SCANNED:
        raise FileError(f"It is drawn in {scans:,} scans, more than an X-ray of its size needs. {SAVE_AGAIN}")


def jpeg_size(jpeg: bytes) -> tuple[int, int]:
    """Width and height by the frame header, of any bit depth, JPEG-LS too; FileError where there is none."""
    at = 2
    while jpeg[at : at + 1] == b"\xff":
        marker = jpeg[at + 1]
        if marker == JPEG_LS_FRAME or marker in JPEG_FRAMES:
            return int.from_bytes(jpeg[at + 7 : at + 9], "big"), int.from_bytes(jpeg[at + 5 : at + 7], "big")
        at += 2 + max(2, int.from_bytes(jpeg[at + 2 : at + 4], "big"))
    raise FileError(f"Its compressed picture does not say how large it is. {SAVE_AGAIN}")


def check_tiff(tiff: bytes) -> None:
    """The number of strips or tiles, and their size, by the first page's directory, in either byte order, ordinary or
    BigTIFF: a decoder makes room for a whole tile, whatever the size of the picture."""
    size: dict[int, int] = {}
    page, following = _page(tiff)
    if following and not any(
        tag == KIND_OF_PAGE and value & (SMALLER_COPY | MASK) for tag, _, _, value in _page(tiff, following)[0]
    ):
        raise FileError("It holds several pages; an X-ray has one. Save the page you mean.")
    for tag, kind, count, value in page:
        if tag in STRIPS and count > MAX_STRIPS:
            raise FileError(f"It is cut into more than {MAX_STRIPS:,} strips, as no X-ray is. {SAVE_AGAIN}")
        if tag in (WIDTH, HEIGHT, TILE_WIDTH, TILE_HEIGHT):
            if tag in size or count != 1 or kind not in WHOLE:
                raise FileError(f"Its directory says its size in a way of its own. {SAVE_AGAIN}")
            size[tag] = value
    if not size.keys() & {TILE_WIDTH, TILE_HEIGHT}:
        return
    width, height = size.get(WIDTH, 0), size.get(HEIGHT, 0)
    tile = max(1, size.get(TILE_WIDTH, 0)), max(1, size.get(TILE_HEIGHT, 0))
    unpacked = math.ceil(width / tile[0]) * tile[0] * math.ceil(height / tile[1]) * tile[1]
    if unpacked > max(ROOM_FOR_TILES * width * height, SMALL_PIXELS):
        raise FileError(f"Its tiles are far larger than the picture. {SAVE_AGAIN}")


def _page(tiff: bytes, start: int = 0) -> tuple[Iterator[tuple[int, int, int, int]], int]:
    """The directory of the first page, or of one that starts elsewhere, and where the next one starts, or 0. Of each
    entry its tag, type, count and value, which means something only if it is one whole number."""
    order: Literal["little", "big"] = "little" if tiff[:2] == b"II" else "big"

    def number(at: int, size: int) -> int:
        return int.from_bytes(tiff[at : at + size], order)

    big = number(2, 2) == 43
    start = start or (number(8, 8) if big else number(4, 4))
    first, each = (start + 8, 20) if big else (start + 2, 12)
    end = first + each * number(start, 8 if big else 2)

    def entry(at: int) -> tuple[int, int, int, int]:
        kind = number(at + 2, 2)
        value = number(at + (12 if big else 8), WHOLE.get(kind, 4))
        return number(at, 2), kind, number(at + 4, 8 if big else 4), value

    return map(entry, range(first, min(end, len(tiff), first + each * MAX_READS), each)), number(end, 8 if big else 4)
