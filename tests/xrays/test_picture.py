import io
import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from ppsets_core.errors import FileError
from ppsets_core.xrays import read_picture

from .samples import film, jpeg, png, tiff, upload

FILM = film()
GREY = FILM.astype(np.float32) / np.float32(255)


def test_png_greys_are_the_pixels_over_255_in_float32():
    picture = read_picture(png(FILM), "a.png")
    assert picture.grey.dtype == np.float32
    assert np.array_equal(picture.grey, GREY)
    assert (picture.name, picture.chroma) == ("a.png", 0.0)


def test_path_upload_open_file_and_bytes_give_the_same_picture(tmp_path):
    path = tmp_path / "a.png"
    path.write_bytes(png(FILM))
    read_before = upload("a.png", png(FILM))
    read_before.read()
    with path.open("rb") as handle:
        pictures = [read_picture(file) for file in (path, str(path), read_before, handle)]
    assert all(np.array_equal(picture.grey, GREY) and picture.name == "a.png" for picture in pictures)


@pytest.mark.parametrize("save", [png, tiff])
def test_16_bit_is_scaled_by_the_range_of_16_bits(save):
    deep = FILM.astype(np.uint16) * 257
    assert np.array_equal(read_picture(save(deep)).grey, GREY)
    assert np.allclose(read_picture(save((deep // 4).astype(np.uint16))).grey, GREY / 4, atol=1e-4)


def test_tiff_that_counts_from_white_is_turned_to_black_is_zero():
    deep = FILM.astype(np.uint16) * 257
    white_is_zero = {262: 0}
    assert np.array_equal(read_picture(tiff(65535 - deep, tiffinfo=white_is_zero)).grey, GREY)


@pytest.mark.parametrize("compression", [None, "tiff_lzw", "tiff_adobe_deflate", "packbits"])
def test_a_tiff_of_several_pages_is_refused_and_a_smaller_copy_is_no_page(compression):
    assert np.array_equal(read_picture(tiff(FILM, compression=compression)).grey, GREY)
    pages = {"save_all": True, "append_images": [Image.fromarray(255 - FILM)], "compression": compression}
    with pytest.raises(FileError, match="several pages"):
        read_picture(tiff(FILM, **pages))
    copy = Image.fromarray(FILM[::4, ::4])
    copy.encoderinfo = {"tiffinfo": {254: 1}}
    assert np.array_equal(read_picture(tiff(FILM, **pages | {"append_images": [copy]})).grey, GREY)


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "LA", "P", "CMYK", "YCbCr"])
def test_every_mode_of_the_same_greys_gives_the_same_greys(mode):
    save = tiff if mode in ("CMYK", "YCbCr") else png
    picture = read_picture(save(Image.fromarray(FILM).convert(mode)))
    assert np.abs(picture.grey - GREY).max() <= 1 / 255
    assert picture.chroma <= 1 / 255


def test_cmyk_jpeg_is_not_taken_for_its_negative():
    assert np.abs(read_picture(jpeg(Image.fromarray(FILM).convert("CMYK"))).grey - GREY).max() < 0.06


def test_one_bit_picture_is_black_and_white():
    bits = Image.fromarray(FILM > 99)
    assert np.array_equal(read_picture(png(bits)).grey, (FILM > 99).astype(np.float32))


def test_colour_gives_luma_and_chroma():
    red = np.zeros((8, 8, 3), np.uint8)
    red[:, :4, 0] = 255
    picture = read_picture(png(red))
    assert picture.chroma == pytest.approx(0.5)
    assert picture.grey[0, 0] == pytest.approx(0.299, abs=0.003)


@pytest.mark.parametrize("mode", ["LA", "RGBA"])
def test_transparent_pixels_are_black(mode):
    image = Image.fromarray(np.full((8, 8), 200, np.uint8)).convert(mode)
    image.putalpha(Image.fromarray(np.repeat(np.uint8([[0, 255]]), 8, 0).repeat(4, 1)))
    grey = read_picture(png(image)).grey
    assert grey[:, :4].max() == 0
    assert np.allclose(grey[:, 4:], 200 / 255)


@pytest.mark.parametrize("pixels", [FILM, FILM.astype(np.uint16) * 257])
def test_a_transparent_grey_value_is_black(pixels):
    grey = read_picture(png(pixels, transparency=int(pixels.max()))).grey
    assert (grey[FILM == 255] == 0).all()
    assert np.array_equal(grey[FILM < 255], GREY[FILM < 255])


@pytest.mark.parametrize("save", [png, jpeg, tiff])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_exif_orientation_is_undone(save, orientation):
    shown = Image.fromarray(film(32, 24))
    turned_back = {2: [0], 3: [3], 4: [1], 5: [5], 6: [2], 7: [6], 8: [4]}
    stored = shown
    for step in turned_back.get(orientation, []):
        stored = stored.transpose(Image.Transpose(step))
    exif = Image.Exif()
    exif[274] = orientation
    grey = read_picture(save(stored, exif=exif)).grey
    assert grey.shape == (32, 24)
    assert np.abs(grey - np.asarray(shown) / 255).max() < 0.06


@pytest.mark.parametrize(
    ("size", "least"), [((1600, 1300), 160), ((300, 900), 160), ((161, 400), 160), ((90, 70), 160)]
)
def test_jpeg_may_come_smaller_but_never_below_at_least(size, least):
    data = jpeg(film(*size))
    small, full = read_picture(data, at_least=least).grey, read_picture(data).grey
    assert full.shape == size
    assert min(small.shape) >= min(least, *size)
    assert min(small.shape) < 2 * least
    assert small.mean() == pytest.approx(full.mean(), abs=0.01)


def test_greyscale_saved_as_colour_jpeg_has_next_to_no_chroma():
    assert read_picture(jpeg(Image.fromarray(FILM).convert("RGB"))).chroma < 0.01


def test_a_phones_jpeg_with_a_second_picture_gives_the_first():
    buffer = io.BytesIO()
    Image.fromarray(FILM).save(buffer, "MPO", save_all=True, append_images=[Image.fromarray(255 - FILM)], quality=95)
    assert np.abs(read_picture(buffer.getvalue()).grey - GREY).max() < 0.06


def test_content_decides_not_the_name():
    assert np.array_equal(read_picture(png(FILM), "a.dcm").grey, GREY)


def _png_header(width: int, height: int) -> bytes:
    header = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n\0\0\0\r" + header + struct.pack(">I", zlib.crc32(header)) + b"\0\0\0\0IDAT"


def _gif() -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(FILM).save(buffer, "GIF")
    return buffer.getvalue()


def _animation() -> bytes:
    return png(FILM, save_all=True, append_images=[Image.fromarray(255 - FILM)])


@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "empty"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "drawing"),
        (b"\xef\xbb\xbf<!doctype html><html>", "web page"),
        (b"just words", "text"),
        (b"%PDF-1.7\n%\xe2\xe3", "PDF"),
        (_gif(), "GIF"),
        (bytes(range(256)), "Not a PNG, JPEG, TIFF or DICOM file"),
        (png(FILM)[:-200], "cut off"),
        (jpeg(FILM)[:300], "cut off"),
        (tiff(FILM)[:300], "cut off"),
        (png(FILM)[:20], "cut off"),
        (_png_header(9_000, 9_000), "80 megapixels"),
        (_png_header(10_000, 10_000), "80 megapixels"),
        (_png_header(100_000, 100_000), "80 megapixels"),
        (_animation(), "animation of 2"),
        (tiff(FILM.astype(np.float32)), "8 or 16 bits"),
        (tiff(FILM.astype(np.int32)), "8 or 16 bits"),
    ],
)
def test_what_is_not_an_xray_file_is_refused_with_a_sentence(data, said):
    with pytest.raises(FileError, match=f"^scan.png: .*{said}.*\\.$"):
        read_picture(data, "scan.png")


def test_a_file_of_more_than_100_mb_is_refused():
    with pytest.raises(FileError, match="100 MB"):
        read_picture(png(FILM) + bytes(100_000_000))


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    with pytest.raises(FileError, match=r"^gone\.png: There is no such file"):
        read_picture(tmp_path / "gone.png")
    with pytest.raises(FileError, match="folder"):
        read_picture(tmp_path)


def test_a_closed_or_text_mode_file_is_refused():
    closed = upload("a.png", png(FILM))
    closed.close()
    with pytest.raises(FileError, match="closed"):
        read_picture(closed)
    with pytest.raises(FileError, match="binary"):
        read_picture(io.StringIO("x"))


def test_names_in_messages_hold_no_control_or_direction_characters():
    with pytest.raises(FileError, match=r"^agnp\.exe: "):
        read_picture(b"", "a\u202egnp\n\x1b.exe")
