import io
from contextlib import nullcontext

import numpy as np
import pytest
from PIL import Image

from ppsets_core.errors import FileError
from ppsets_core.xrays import read_picture
from ppsets_core.xrays.limits import check_scans
from ppsets_core.xrays.picture import Header

from .samples import film, jpeg, png, tiff, upload

FILM = film()
GREY = FILM.astype(np.float32) / np.float32(255)
DEEP = FILM.astype(np.uint16) * 257


def in_mode(mode: str) -> Image.Image:
    return Image.fromarray(FILM).convert(mode)


def mpo() -> bytes:
    """A phone's JPEG with a second picture."""
    buffer = io.BytesIO()
    Image.fromarray(FILM).save(buffer, "MPO", save_all=True, append_images=[Image.fromarray(255 - FILM)], quality=95)
    return buffer.getvalue()


ONE_STEP, LOSSY = 1 / 255, 0.06
ALIKE = {
    "png": (png(FILM), 0),
    "16-bit png": (png(DEEP), 0),
    "16-bit tiff": (tiff(DEEP), 0),
    "tiff that counts from white": (tiff(65535 - DEEP, tiffinfo={262: 0}), 0),
    "tiled tiff": (tiff(FILM, compression="tiff_adobe_deflate", tiffinfo={322: 256, 323: 256}), 0),
    **{
        f"tiff, {how}": (tiff(FILM, compression=how), 0) for how in (None, "tiff_lzw", "tiff_adobe_deflate", "packbits")
    },
    **{f"png, {mode}": (png(in_mode(mode)), ONE_STEP) for mode in ("RGB", "RGBA", "LA", "P")},
    **{f"tiff, {mode}": (tiff(in_mode(mode)), ONE_STEP) for mode in ("CMYK", "YCbCr")},
    "CMYK jpeg, no negative": (jpeg(in_mode("CMYK")), LOSSY),
    "colour jpeg of greys": (jpeg(in_mode("RGB")), LOSSY),
    "mpo": (mpo(), LOSSY),
}


@pytest.mark.parametrize("kind", ALIKE)
def test_the_same_greys_are_read_from_every_format_and_mode(kind):
    data, tolerance = ALIKE[kind]
    picture = read_picture(data, "named.dcm")  # the content decides, not the name
    assert picture.grey.dtype == np.float32
    assert np.abs(picture.grey - GREY).max() <= tolerance
    assert picture.chroma <= (0 if tolerance == 0 else 0.01)
    assert (picture.name, picture.header) == ("named.dcm", Header())


def test_path_upload_open_file_and_bytes_give_the_same_picture(tmp_path):
    path = tmp_path / "a.png"
    path.write_bytes(png(FILM))
    read_before = upload("a.png", png(FILM))
    read_before.read()
    with path.open("rb") as handle:
        pictures = [read_picture(file) for file in (path, str(path), read_before, handle)]
    assert all(np.array_equal(picture.grey, GREY) and picture.name == "a.png" for picture in pictures)


def test_a_darker_16_bit_picture_stays_darker():
    assert np.allclose(read_picture(png((DEEP // 4).astype(np.uint16))).grey, GREY / 4, atol=1e-4)


def test_a_smaller_copy_in_a_tiff_is_no_second_page():
    copy = Image.fromarray(FILM[::4, ::4])
    copy.encoderinfo = {"tiffinfo": {254: 1}}
    assert np.array_equal(read_picture(tiff(FILM, save_all=True, append_images=[copy])).grey, GREY)


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


@pytest.mark.parametrize("pixels", [FILM, DEEP])
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


def test_a_file_of_more_than_100_mb_is_refused():
    with pytest.raises(FileError, match="100 MB"):
        read_picture(png(FILM) + bytes(100_000_000))


def test_a_missing_closed_or_text_mode_file_and_a_folder_are_refused(tmp_path):
    closed = upload("a.png", png(FILM))
    closed.close()
    for file, said in (
        (tmp_path / "gone.png", r"^gone\.png: There is no such file"),
        (tmp_path, "folder"),
        (closed, "closed"),
        (io.StringIO("x"), "binary"),
    ):
        with pytest.raises(FileError, match=said):
            read_picture(file)


@pytest.mark.parametrize(
    ("scans", "side", "fits"), [(10, 8900, True), (20, 8900, False), (60, 3000, True), (101, 8, False)]
)
def test_scans_times_pixels_are_bounded(scans, side, fits):
    with nullcontext() if fits else pytest.raises(FileError, match=f"drawn in {scans} scans"):
        check_scans(b"\xff\xda" * scans, side, side)
