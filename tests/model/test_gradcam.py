import numpy as np
import pytest

from ppsets_core.errors import InputError
from ppsets_core.model import load_model
from ppsets_core.model.gradcam import heat_map
from ppsets_core.xrays import Picture
from tests.model.chests import picture


@pytest.fixture(scope="module")
def model():
    return load_model()


@pytest.mark.parametrize("shape", [(180, 220), (300, 120), (30, 30)])
def test_the_heat_lies_on_the_whole_xray(model, shape):
    xray = picture("bacterial-pneumonia", 1, height=shape[0], width=shape[1])
    maps = [heat_map(model, xray, index) for index in range(3)]
    for heat in maps:
        assert heat.shape == shape
        assert heat.dtype == np.float32
        assert heat.min() >= 0
        assert heat.max() <= 1
    assert max(heat.max() for heat in maps) == 1
    total = sum(maps)
    assert all(edge.any() for edge in (total[0], total[-1], total[:, 0], total[:, -1]))


def test_there_is_no_heat_on_a_margin(model):
    xray = Picture("bordered.png", np.pad(picture("bacterial-pneumonia", 1).grey, 50), 0.0)
    for index in range(3):
        heat = heat_map(model, xray, index)
        heat[46:-46, 46:-46] = 0
        assert not heat.any()


def test_classes_have_different_maps_and_one_that_is_not_there_is_refused(model):
    xray = picture("viral-pneumonia", 2)
    assert not np.allclose(heat_map(model, xray, 0), heat_map(model, xray, 1))
    with pytest.raises(InputError, match="no class 3"):
        heat_map(model, picture(), 3)
