import numpy as np
import pytest
import torch

from ppsets_core.network.preprocess import Preprocessing, resized_square
from ppsets_core.xrays.frame import Frame, find_frame
from tests.network.chests import chest

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


@pytest.mark.parametrize(("scale", "shift"), [(0.25, 0.375), (0.5, 0.0), (2**-4, 0.0), (0.6, 0.4)])
def test_greys_that_take_a_part_of_the_range_are_spread_over_all_of_it(scale, shift):
    """As 12 bits in a 16-bit file, or a pale export."""
    seen = VIEW.network_input(scale * chest() + shift)
    assert torch.allclose(seen, VIEW.network_input(0.4 * chest() + 0.1), atol=0.02)
    assert seen.min() == -2
    assert seen.max() == 2


def test_greys_that_take_most_of_the_range_stay_as_they_are():
    grey = np.random.default_rng(2).random((146, 146), dtype=np.float32)
    assert torch.allclose(VIEW.network_input(grey)[0], torch.from_numpy((grey[9:137, 9:137] - 0.5) / 0.25), atol=1e-5)


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_margins_are_cut_before(value):
    grey = chest(height=180, width=220)
    padded = np.pad(grey, 45, constant_values=value)
    assert (VIEW.network_input(grey) - VIEW.network_input(padded)).abs().mean() < 0.2
    assert torch.equal(VIEW.network_input(padded), VIEW.network_input(padded, find_frame(padded)))


def test_what_is_seen_lies_in_the_middle_of_the_frame():
    assert VIEW.seen_of(Frame(10, 20, 156, 420)) == (19, 156, 147, 284)


def test_only_the_middle_square_is_seen():
    grey = np.random.default_rng(1).random((100, 300), dtype=np.float32)
    changed = grey.copy()
    changed[:, :100] = grey[:, 100:200]
    changed[:, 200:] = grey[:, 100:200]
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
