"""What a file is by its first bytes; its extension has no say."""

from typing import Literal

Kind = Literal["PNG", "JPEG", "TIFF", "DICOM"]

HEAD = 132
ZIP_STARTS = (b"PK\x03\x04", b"PK\x05\x06")
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
    (b"BM", "a BMP"),
    (b"%PDF", "a PDF"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"\x1f\x8b", "a GZIP archive"),
    (b"\0\0\0\x0cjP", "a JPEG 2000 picture"),
    (b"\xff\x4f\xff\x51", "a JPEG 2000 picture"),
    (b"RIFF", "a WebP picture"),
    (b"n+1", "a NIfTI volume"),
)


def kind_of(head: bytes) -> Kind | None:
    """The format that the first bytes announce, or None."""
    if head[128:132] == b"DICM" or _is_bare_dicom(head):
        return "DICOM"
    return next((kind for start, kind in PICTURES if head.startswith(start)), None)


def why_not_a_picture(head: bytes) -> str:
    """A sentence for a file that `kind_of` does not know."""
    if not head:
        return "The file is empty."
    return f"Not a PNG, JPEG, TIFF or DICOM file{_resemblance(head)}. Save the X-ray in one of these formats."


def _is_bare_dicom(head: bytes) -> bool:
    """Old DICOM files lack the preamble and start with an element of group 0002 or 0008."""
    if len(head) < 16 or head[:2] not in (b"\x02\0", b"\x08\0") or head[3] != 0:
        return False
    explicit = head[4:6].isalpha() and head[4:6].isupper()
    return explicit or int.from_bytes(head[4:8], "little") <= 64


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
