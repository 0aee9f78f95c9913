import numpy as np
import pytest
import torch

from ppsets_core.model.network import MIDDLE, Preprocessing, stretched
from ppsets_core.xrays.frame import find_frame
from tests.model.chests import chest

VIEW = Preprocessing()


@pytest.mark.parametrize("gamma", [0.2, 0.4, 2.5, 5])
def test_another_gamma_is_bent_back(gamma):
    grey = chest("bacterial-pneumonia", 2)
    bent = stretched(grey**gamma, 64)
    assert MIDDLE[0] - 0.02 <= bent.median() <= MIDDLE[1] + 0.02
    assert (bent - stretched(grey, 64)).abs().mean() < 0.6 * (torch.from_numpy(grey**gamma - grey)).abs().mean()


@pytest.mark.parametrize("middle", [0.5, 0.6, 0.7])
def test_a_usual_middle_grey_stays_as_it_is(middle):
    grey = np.concatenate([np.linspace(0, middle, 3200), np.linspace(middle, 1, 3200)]).astype(np.float32)
    mixed = np.random.default_rng(0).permutation(grey).reshape(80, 80)
    assert abs(stretched(mixed, 80).median() - middle) < 0.02


@pytest.mark.parametrize("edge", [np.s_[:12], np.s_[-12:], np.s_[:, :12], np.s_[:, -12:]])
def test_every_edge_of_the_xray_is_seen(edge):
    grey = np.random.default_rng(1).random((100, 300), dtype=np.float32)
    changed = grey.copy()
    changed[edge] = changed[edge][::-1, ::-1]
    assert not torch.equal(VIEW.network_input(grey), VIEW.network_input(changed))


def test_shrinking_does_not_alias():
    """A one-pixel checkerboard, shrunk, is even grey; without anti-aliasing it would be stripes."""
    board = (np.indices((1600, 1600)).sum(axis=0) % 2).astype(np.float32)
    assert stretched(board, 160).std() < 0.01


def test_the_picture_is_not_changed():
    grey = np.full((146, 146), 0.3, dtype=np.float32)
    grey.setflags(write=False)
    assert torch.equal(VIEW.network_input(grey), VIEW.network_input(grey, find_frame(grey)))
    assert (grey == np.float32(0.3)).all()
