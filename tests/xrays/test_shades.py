"""Looking closely: every grey of the file is there, and the window that is shown first is the header's own."""

import numpy as np
import pytest

from ppsets_core import FileError
from ppsets_core.diagnose.xrays import thumbnail_of
from ppsets_core.xrays import read_picture
from ppsets_core.xrays.shades import Shades, read_shades
from tests.xrays.samples import dicom, film, jpeg, png


def shown(shades: Shades) -> np.ndarray:
    """What a viewer shows at first, by DICOM's own formula (PS3.3 C.11.2.1.2.1)."""
    numbers = shades.first + shades.step * shades.values.astype(float)
    grey = ((numbers - (shades.centre - 0.5)) / (shades.width - 1) + 0.5).clip(0, 1)
    return 1 - grey if shades.inverted else grey


def deep() -> np.ndarray:
    return (film().astype(np.uint16) * 16 + 5) % 4096


@pytest.mark.parametrize("make", [png, jpeg])
def test_a_picture_of_8_bits_stays_one(make):
    data = make(film())
    shades = read_shades(data, "a")
    assert shades.values.dtype == np.uint8
    assert not shades.windowed
    np.testing.assert_allclose(shown(shades), read_picture(data).grey, atol=1e-6)


@pytest.mark.parametrize("bits", [12, 16])
def test_few_bits_in_a_16_bit_picture_are_shown_as_bright_as_all(bits):
    grey = np.linspace(0, 2**bits - 1, 64 * 64).reshape(64, 64).astype(np.uint16)
    shades = read_shades(png(grey), "a")
    assert (shades.values == grey).all()
    np.testing.assert_allclose(shown(shades), grey / (2**bits - 1), atol=1e-3)
    small = read_picture(thumbnail_of(read_picture(png(grey), "a")), "a").grey
    np.testing.assert_allclose(small, grey / (2**bits - 1), atol=0.02)


@pytest.mark.parametrize("photometric", ["MONOCHROME1", "MONOCHROME2"])
@pytest.mark.parametrize(
    "tags",
    [
        {},
        {"WindowCenter": 1000, "WindowWidth": 600},
        {"WindowCenter": 1000, "WindowWidth": 600, "VOILUTFunction": "LINEAR_EXACT"},
        {"WindowCenter": [300, 5], "WindowWidth": [900, 7], "RescaleSlope": 2, "RescaleIntercept": -1024},
        {"RescaleSlope": -1, "RescaleIntercept": 4095},
    ],
)
def test_a_dicom_begins_as_it_is_read_and_keeps_what_the_window_cuts_off(photometric, tags):
    data = dicom(deep(), bits=12, PhotometricInterpretation=photometric, **tags)
    shades = read_shades(data, "a")
    np.testing.assert_allclose(shown(shades), read_picture(data).grey, atol=1e-5)
    assert shades.windowed
    assert len(np.unique(shades.values)) == len(np.unique(deep()))
    if tags.get("VOILUTFunction") is None and "WindowCenter" in tags:
        assert (shades.centre, shades.width) == tuple(
            np.atleast_1d(tags[n])[0] for n in ("WindowCenter", "WindowWidth")
        )


def test_signed_values_are_read():
    stored = deep().astype(np.int16) - 2000
    shades = read_shades(dicom(stored, WindowCenter=0, WindowWidth=2000), "a")
    np.testing.assert_array_equal(shades.first + shades.step * shades.values.astype(int), stored)


def test_a_huge_picture_is_thinned_out(monkeypatch):
    monkeypatch.setattr("ppsets_core.xrays.shades.LARGE_PIXELS", 500)
    shades = read_shades(png(film(48, 40)), "a")
    assert shades.values.shape == (24, 20)
    assert max(shades.framed) <= 24


def test_what_cannot_be_read_is_refused_as_ever():
    with pytest.raises(FileError, match="damaged"):
        read_shades(png(film())[:60], "a")
