"""The square that is seen does not depend on margins. Bit depth, contrast and gamma: tests/tools/test_robustness.py."""

import numpy as np
import pytest

from ppsets_core.xrays.frame import find_frame, to_model_square
from tests.model.chests import chest

GREY = chest("bacterial-pneumonia", 3, 256, 340)


@pytest.mark.parametrize("value", [0.0, 1.0, 0.4])
@pytest.mark.parametrize("share", [0.05, 0.25, 0.4])
def test_an_even_margin_does_not_matter(value, share):
    rows, columns = (round(share * side) for side in GREY.shape)
    padded = np.pad(GREY, ((rows, rows), (columns, columns)), constant_values=value)
    frame = find_frame(padded)
    assert np.abs(np.array(frame) - [rows, columns, rows + 256, columns + 340]).max() <= 4
    assert np.abs(to_model_square(padded, 64) - to_model_square(GREY, 64)).mean() < 0.02


def test_margins_of_two_colours_and_letters_in_them_are_cut():
    padded = np.pad(np.pad(GREY, 30), 30, constant_values=1)
    padded[35:41, 40:46] = 1
    assert np.abs(np.array(find_frame(padded)) - [60, 60, 316, 400]).max() <= 4


@pytest.mark.parametrize("shape", [(1, 1), (1, 400), (7, 7), (3000, 200)])
def test_an_even_picture_is_seen_whole(shape):
    assert find_frame(np.full(shape, 0.5, dtype=np.float32)) == (0, 0, *shape)
    assert np.isfinite(to_model_square(np.full(shape, 0.5, dtype=np.float32), 32)).all()


def test_an_xray_without_margins_is_seen_whole():
    assert find_frame(GREY) == (0, 0, *GREY.shape)
