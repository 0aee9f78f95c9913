import torch

from ppsets_core.model.augmentation import augment


def views(seed: int, greys: torch.Tensor, size: int = 48) -> torch.Tensor:
    return augment(greys, size, torch.Generator().manual_seed(seed))


def test_views_have_the_asked_size_stay_in_range_and_repeat_with_the_seed():
    greys = torch.rand(16, 1, 64, 64)
    seen = views(3, greys)
    assert seen.shape == (16, 1, 48, 48)
    assert 0 <= seen.min() <= seen.max() <= 1
    assert torch.equal(seen, views(3, greys))
    assert not torch.equal(seen, views(4, greys))


def test_about_half_are_mirrored_and_none_upside_down():
    corner = torch.full((200, 1, 64, 64), 0.2)
    corner[:, :, :20, :20] = 0.9
    seen = views(0, corner)
    top, bottom = seen[:, 0, :12].mean((1, 2)), seen[:, 0, -12:].mean((1, 2))
    assert (top >= bottom).float().mean() > 0.95
    left = seen[:, 0, :12, :12].mean((1, 2)) > seen[:, 0, :12, -12:].mean((1, 2))
    assert 0.35 < left.float().mean() < 0.65


def test_some_views_are_coarse():
    noise = torch.rand(200, 1, 64, 64)
    roughness = views(0, noise).diff(dim=-1).abs().mean((1, 2, 3))
    assert roughness.min() < 0.3 * roughness.max()
