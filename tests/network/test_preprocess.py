import numpy as np
import pytest
import torch

from ppsets_core.network.preprocess import Preprocessing, resized_square

VIEW = Preprocessing()


@pytest.mark.parametrize("shape", [(1, 1), (2, 5000), (64, 40), (146, 146), (3000, 2000)])
def test_any_shape_becomes_the_same_input(shape):
    grey = np.random.default_rng(0).random(shape, dtype=np.float32)
    seen = VIEW.network_input(grey)
    assert seen.shape == (3, 128, 128)
    assert torch.isfinite(seen).all()


def test_greys_are_normalised_on_three_equal_channels():
    seen = VIEW.network_input(np.full((200, 300), 0.75, dtype=np.float32))
    assert torch.allclose(seen, torch.tensor(1.0), atol=1e-5)


def test_only_the_middle_square_is_seen():
    grey = np.random.default_rng(1).random((100, 300), dtype=np.float32)
    changed = grey.copy()
    changed[:, :100] = 0
    changed[:, 200:] = 1
    assert torch.equal(VIEW.network_input(grey), VIEW.network_input(changed))


def test_shrinking_does_not_alias():
    """A one-pixel checkerboard, shrunk, is even grey; without anti-aliasing it would be stripes."""
    board = (np.indices((1460, 1460)).sum(axis=0) % 2).astype(np.float32)
    assert torch.allclose(resized_square(board, 146), torch.tensor(0.5), atol=0.01)


def test_the_picture_is_not_changed():
    grey = np.full((146, 146), 0.3, dtype=np.float32)
    grey.setflags(write=False)
    VIEW.network_input(grey)
    assert (grey == np.float32(0.3)).all()
