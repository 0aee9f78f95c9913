"""Pictures that are damaged, odd or mean harm, as bytes: those refused, with what is said of them, and those read."""

import io
import struct
import warnings
import zlib

import numpy as np
from PIL import Image
from pydicom.encaps import encapsulate
from pydicom.uid import ImplicitVRLittleEndian, JPEGBaseline8Bit

from tests.xrays.samples import dicom, film, jpeg, png, tiff

FILM = film()
OTHER = Image.fromarray(255 - FILM)


def chunk(name: bytes, data: bytes = b"") -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png_of_size(width: int, height: int) -> bytes:
    """A PNG that says it is so large, and holds next to nothing."""
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", zlib.compress(bytes(9000))) + chunk(b"IEND")


def png_with(chunks: bytes) -> bytes:
    data = png(FILM)
    return data[:33] + chunks + data[33:]


def text_bomb() -> bytes:
    """Small texts that unpack to 180 MB together."""
    packed = zlib.compress(bytes(900_000))
    return png_with(b"".join(chunk(b"zTXt", b"note %d\0\0" % i + packed) for i in range(200)))


def many_scans(scans: int, side: int = 64) -> bytes:
    """A progressive JPEG whose last scan is there again and again; each costs a pass over the whole picture."""
    data = jpeg(np.zeros((side, side), np.uint8), progressive=True)
    return data[:-2] + data[data.rindex(b"\xff\xda") : -2] * scans + b"\xff\xd9"


def many_strips(strips: int) -> bytes:
    """A TIFF that says it has so many strips; their table is not even there."""
    tags = {256: 1, 257: strips, 258: 8, 259: 1, 262: 1, 273: 200, 277: 1, 278: 1, 279: 200}
    count = {273: strips, 279: strips}
    entries = b"".join(struct.pack("<HHII", tag, 4, count.get(tag, 1), value) for tag, value in tags.items())
    return (b"II*\0" + struct.pack("<IH", 8, len(tags)) + entries + bytes(4)).ljust(200, b"\0")


def absurd_tag() -> bytes:
    """A TIFF with a tag of four gigabytes at an offset past its end."""
    data = bytearray(tiff(FILM, tiffinfo={270: "a note that does not fit into the entry itself"}))
    (directory,) = struct.unpack_from("<I", data, 4)
    for at in range(directory + 2, len(data) - 12, 12):
        if struct.unpack_from("<H", data, at) == (270,):
            struct.pack_into("<II", data, at + 4, 0xFFFFFFFF, 0xFFFFFF00)
            return bytes(data)
    raise AssertionError("no such tag")


def before_pixels(data: bytes, elements: bytes) -> bytes:
    """A DICOM file with more elements ahead of its pixels."""
    at = data.rindex(b"\xe0\x7f\x10\0")
    return data[:at] + elements + data[at:]


def many_tags(number: int) -> bytes:
    tags = (struct.pack("<HH2sH", 9 + 2 * (i >> 16), i & 0xFFFF, b"CS", 0) for i in range(number))
    return before_pixels(dicom(FILM), b"".join(tags))


def many_items(number: int) -> bytes:
    """A sequence of so many empty items, each an object to whoever reads it."""
    items = b"\xfe\xff\0\xe0\0\0\0\0" * number + b"\xfe\xff\xdd\xe0\0\0\0\0"
    return before_pixels(dicom(FILM), struct.pack("<HH2sHI", 0x28, 0x3010, b"SQ", 0, 0xFFFFFFFF) + items)


def long_tag(values: int) -> bytes:
    """A window centre of very many numbers."""
    tag = struct.pack("<HHI", 0x28, 0x1050, 2 * values) + b"1\\" * values
    return before_pixels(dicom(FILM, syntax=ImplicitVRLittleEndian), tag)


def other_size_inside() -> bytes:
    """A DICOM file of few pixels around a JPEG that says it has many."""
    inside = bytearray(jpeg(FILM))
    at = inside.index(b"\xff\xc0")
    struct.pack_into(">HH", inside, at + 5, 65000, 65000)
    return dicom(FILM, syntax=JPEGBaseline8Bit, PixelData=encapsulate([bytes(inside)]))


def wrong_length() -> bytes:
    """A DICOM file whose pixels say they are four gigabytes."""
    data = dicom(FILM)
    at = data.rindex(b"\xe0\x7f\x10\0") + 8
    return data[:at] + struct.pack("<I", 0xFFFFFFF0) + data[at + 4 :]


def animated(file_format: str) -> bytes:
    out = io.BytesIO()
    Image.fromarray(FILM).save(out, file_format, save_all=True, append_images=[OTHER])
    return out.getvalue()


def corrupt(data: bytes) -> bytes:
    """The second half's bytes turned round: the header stays whole."""
    half = len(data) // 2
    return data[:half] + bytes(255 - byte for byte in data[half:])


REFUSED = {
    "pixel-bomb.png": (png_of_size(50_000, 50_000), "80 megapixels"),
    "no-width.png": (png_of_size(0, 10), "cut off, damaged"),
    "cut.png": (png(FILM)[:-200], "cut off, damaged"),
    "cut.jpg": (jpeg(FILM)[:300], "cut off, damaged"),
    "cut.tif": (tiff(FILM)[:300], "cut off, damaged"),
    "cut.dcm": (dicom(FILM)[:-500], "cut off, damaged"),
    "corrupt.png": (corrupt(png(FILM)), "cut off, damaged"),
    "corrupt.tif": (corrupt(tiff(FILM, compression="tiff_lzw")), "cut off, damaged"),
    "empty.png": (b"", "empty"),
    "gif.png": (animated("GIF"), "a GIF"),
    "webp.jpg": (animated("WEBP"), "a WebP picture"),
    "film.png": (animated("PNG"), "animation of 2 pictures"),
    "pages.tif": (animated("TIFF"), "several pages"),
    "svg.png": (b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>", "web page or drawing"),
    "html.png": (b"<!doctype html><script>alert(1)</script>", "web page or drawing"),
    "float.tif": (tiff(FILM.astype(np.float32)), "8 or 16 bits"),
    "no-pixels.dcm": (dicom(None), "holds no picture"),
    "frames.dcm": (dicom(FILM, NumberOfFrames=3, PixelData=FILM.tobytes() * 3), "3 frames"),
    "no-rows.dcm": (dicom(FILM, Rows=0), "no pixels"),
    "pixel-bomb.dcm": (dicom(FILM, Rows=50_000, Columns=50_000), "80 megapixels"),
    "absurd-window.dcm": (dicom(FILM, WindowCenter=0, WindowWidth="1e300"), "make no sense"),
    "other-size.dcm": (other_size_inside(), "80 megapixels"),
    "long-tag.dcm": (long_tag(600_000), "longer than any"),
    "many-tags.dcm": (many_tags(210_000), "more parts"),
    "many-items.dcm": (many_items(210_000), "more parts"),
    "text-bomb.png": (text_bomb(), "cut off, damaged"),
    "many-chunks.png": (png_with(chunk(b"prIv") * 210_000), "more parts"),
    "many-scans.jpg": (many_scans(200), "more than an X-ray of its size needs"),
    "padding.jpg": (jpeg(FILM)[:2] + b"\xff" * 300_000 + jpeg(FILM)[2:], "more parts"),
    "many-strips.tif": (many_strips(70_000_000), "more than 200,000 strips"),
}


def nan_window() -> bytes:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return dicom(FILM, WindowCenter="nan", WindowWidth="nan")


READ = {
    "note.tif": absurd_tag(),
    "wrong-length.dcm": wrong_length(),
    "zero-window.dcm": dicom(FILM, WindowCenter=128, WindowWidth=0),
    "negative-window.dcm": dicom(FILM, WindowCenter=128, WindowWidth=-5),
    "nan-window.dcm": nan_window(),
}
