"""What a decoder may be put through by one file, whatever its size in pixels."""

import io
from typing import Literal

from ppsets_core.errors import FileError

MAX_READS = 200_000  # an honest file of 100 MB needs some forty thousand
MAX_SCANS = 100  # a progressive JPEG has about ten, and each may cost a pass over the whole picture
MAX_STRIPS = 200_000
SAVE_AGAIN = "Open it in a viewer and save it as PNG."
TOO_MANY_PARTS = f"It consists of more parts than any X-ray has. {SAVE_AGAIN}"
STRIPS = (273, 279, 324, 325)


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


def check_scans(jpeg: bytes) -> None:
    """A JPEG's scans, counted by their marker, which compressed data cannot contain."""
    if jpeg.count(b"\xff\xda") > MAX_SCANS:
        raise FileError(f"It is drawn in more than {MAX_SCANS} scans, as no X-ray is. {SAVE_AGAIN}")


def check_strips(tiff: bytes) -> None:
    """The number of strips or tiles by the first page's directory, in either byte order, ordinary or BigTIFF."""
    order: Literal["little", "big"] = "little" if tiff[:2] == b"II" else "big"

    def number(at: int, size: int) -> int:
        return int.from_bytes(tiff[at : at + size], order)

    big = number(2, 2) == 43
    start = number(8, 8) if big else number(4, 4)
    first, each = (start + 8, 20) if big else (start + 2, 12)
    end = first + each * number(start, 8 if big else 2)
    for at in range(first, min(end, len(tiff), first + each * MAX_READS), each):
        if number(at, 2) in STRIPS and number(at + 4, 8 if big else 4) > MAX_STRIPS:
            raise FileError(f"It is cut into more than {MAX_STRIPS:,} strips, as no X-ray is. {SAVE_AGAIN}")
