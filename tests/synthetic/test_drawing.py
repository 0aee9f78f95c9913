"""Synthetic X-rays: reproducible by seed, labelled, of a picture's shape and range."""

import numpy as np
import pytest

from ppsets_core.errors import InputError
from ppsets_core.synthetic import draw_xrays, iter_xrays

CLASSES = ["bacterial-pneumonia", "normal", "viral-pneumonia"]


def test_the_same_seed_gives_the_same_xrays():
    for first, second in zip(draw_xrays(6, seed=3), draw_xrays(6, seed=3), strict=True):
        assert first.label == second.label
        np.testing.assert_array_equal(first.grey, second.grey)


def test_drawing_more_only_adds():
    few, many = draw_xrays(4, seed=5), draw_xrays(9, seed=5)
    for first, second in zip(few, many[:4], strict=True):
        np.testing.assert_array_equal(first.grey, second.grey)


def test_other_seeds_give_other_xrays():
    a, b = draw_xrays(1, seed=0)[0].grey, draw_xrays(1, seed=1)[0].grey
    assert a.shape != b.shape or np.abs(a - b).mean() > 0.02


def test_classes_come_in_turn():
    assert [xray.label for xray in draw_xrays(7, seed=0)] == [*CLASSES, *CLASSES, CLASSES[0]]


def test_one_class_can_be_asked_for():
    xrays = draw_xrays(4, seed=0, label="normal")
    assert {xray.label for xray in xrays} == {"normal"}
    assert len({xray.grey.tobytes() for xray in xrays}) == 4


def test_pictures_are_float_greys_of_a_chest_xrays_shape():
    for xray in iter_xrays(30, seed=2):
        height, width = xray.grey.shape
        assert xray.grey.dtype == np.float32
        assert min(height, width) == 256
        assert 0.8 < width / height < 2.3
        assert xray.grey.min() >= 0
        assert xray.grey.max() <= 1
        assert xray.grey.std() > 0.05


@pytest.mark.parametrize(("count", "seed", "label"), [(-1, 0, None), (1, -1, None), (1, 0, "broken rib")])
def test_senseless_requests_are_refused(count, seed, label):
    with pytest.raises(InputError):
        draw_xrays(count, seed, label)


def test_none_is_a_possible_number():
    assert draw_xrays(0, seed=0) == []
