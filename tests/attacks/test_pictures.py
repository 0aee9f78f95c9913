"""Damaged, odd and hostile pictures, all at once on Diagnose beside good ones: each has its own reason."""

import numpy as np
import pytest

from ppsets_core.xrays import read_folder, read_picture
from tests.attacks.conftest import answered, left_out
from tests.attacks.pictures import FILM, READ, REFUSED
from tests.drawn_xrays import draw_xrays
from tests.pages.driving import texts
from tests.xrays.samples import png, upload, zipped

pytestmark = pytest.mark.filterwarnings("ignore")


def test_each_bad_picture_is_named_with_its_reason_and_the_good_ones_are_classified(diagnosed):
    xrays = {f"{i}.png": png(xray.pixels) for i, xray in enumerate(draw_xrays(2, 0))}
    at = diagnosed({name: data for name, (data, _) in REFUSED.items()} | READ | xrays)
    assert not at.error
    assert answered(at) == [*READ, *xrays]
    reasons = left_out(at)
    assert {name: reason for name, reason in reasons.items() if REFUSED[name][1] not in reason} == {}
    assert set(reasons) == set(REFUSED)
    assert all(reason.endswith(".") for reason in reasons.values())


def test_what_is_odd_but_readable_shows_the_same_greys():
    folder = read_folder(upload("x.zip", zipped(READ)))
    pictures = list(folder.pictures())
    assert [picture.name for picture in pictures] == sorted(READ)
    for picture in pictures:
        assert np.abs(picture.grey - FILM / 255).max() < 0.07, picture.name


def test_files_of_too_many_megabytes_together_are_refused_by_a_sentence(screen, monkeypatch):
    monkeypatch.setattr("pages.widgets.choose_files.MOST_MEGABYTES", 0.002)
    at = screen("calibrate")
    at.radio(key="source").set_value("X-rays with labels").run()
    at.file_uploader[0].set_value([(f"{i}.png", png(FILM), "") for i in range(2)]).run()
    assert "X-rays found" not in texts(at)
    assert "MB together" in at.error[0].value
    at.file_uploader[0].set_value([("0.png", png(FILM), "")]).run()
    assert "1 X-ray found" in texts(at)


def test_a_picture_larger_than_any_x_ray_comes_smaller_and_never_below_what_is_needed():
    stripes = np.repeat(np.arange(5000) // 500 % 2 * 255, 5001).reshape(5000, 5001).astype(np.uint8)
    data = png(stripes, compress_level=1)
    small = read_picture(data, at_least=256).grey
    assert small.shape == (2500, 2500)
    assert np.array_equal(small[:, 0], stripes[::2, 0] / np.float32(255))
    assert read_picture(data, at_least=4000).grey.shape == read_picture(data).grey.shape == (5000, 5001)
