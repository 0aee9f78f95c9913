"""Random views of a batch of X-rays, as other machines, exports and hands would give them, a batch at a time."""

import math

import torch
from torch import Generator, Tensor
from torch.nn import functional as F

_LARGEST_TURN, _TURNED_SHARE = math.radians(15), 0.7
_ZOOM, _STRETCH = (0.75, 1.18), 0.12
_SLACK = 0.05
_GAMMA = 0.45
_CONTRAST, _BRIGHTNESS = (0.75, 1.15), 0.08
_COARSE_SHARE, _COARSE = 0.12, 0.4
_NOISY_SHARE, _NOISE = 0.18, 0.04


def augment(greys: Tensor, size: int, generator: Generator) -> Tensor:
    """A random view (N, 1, size, size) of each grey picture (N, 1, H, H) in [0, 1]: mirrored, turned, zoomed, stretched
    and shifted, black where it ends; another gamma, contrast and brightness; some coarse, some noisy."""
    places = F.affine_grid(_random_affine(len(greys), generator), [len(greys), 1, size, size], align_corners=False)
    views = F.grid_sample(greys, places, mode="bilinear", padding_mode="zeros", align_corners=False)
    return _noisy(_coarse(_toned(views, generator), generator), generator)


def _uniform(low: float, high: float, count: int, generator: Generator) -> Tensor:
    return low + (high - low) * torch.rand(count, generator=generator)


def _share(share: float, count: int, generator: Generator) -> Tensor:
    return (torch.rand(count, generator=generator) < share).nonzero()[:, 0]


def _random_affine(count: int, generator: Generator) -> Tensor:
    """Maps each view's pixels into its picture: a window larger or smaller than it, turned and perhaps mirrored."""
    turn = _uniform(-_LARGEST_TURN, _LARGEST_TURN, count, generator)
    turn = turn * (torch.rand(count, generator=generator) < _TURNED_SHARE).float()
    zoom = _uniform(*_ZOOM, count, generator)
    stretch = torch.exp(_uniform(-_STRETCH, _STRETCH, count, generator))
    mirror = 1.0 - 2.0 * (torch.rand(count, generator=generator) < 0.5).float()
    right, down = (((1 - zoom).abs() + _SLACK) * _uniform(-1, 1, count, generator) for _ in range(2))
    across, along = mirror * zoom * stretch, zoom / stretch
    rows = [
        torch.stack([across * torch.cos(turn), -along * torch.sin(turn), right], 1),
        torch.stack([across * torch.sin(turn), along * torch.cos(turn), down], 1),
    ]
    return torch.stack(rows, 1)


def _toned(views: Tensor, generator: Generator) -> Tensor:
    gamma = torch.exp(_uniform(-_GAMMA, _GAMMA, len(views), generator)).view(-1, 1, 1, 1)
    contrast = _uniform(*_CONTRAST, len(views), generator).view(-1, 1, 1, 1)
    brightness = _uniform(-_BRIGHTNESS, _BRIGHTNESS, len(views), generator).view(-1, 1, 1, 1)
    bent = views.clamp(1e-4, 1) ** gamma
    mean = bent.mean(dim=(1, 2, 3), keepdim=True)
    return ((bent - mean) * contrast + mean + brightness).clamp(0, 1)


def _coarse(views: Tensor, generator: Generator) -> Tensor:
    """Some with the detail of a thumbnail."""
    chosen, size = _share(_COARSE_SHARE, len(views), generator), views.shape[-1]
    if len(chosen) == 0:
        return views
    small = F.interpolate(views[chosen], (int(size * _COARSE),) * 2, mode="bilinear", antialias=True)
    return views.index_copy(0, chosen, F.interpolate(small, (size, size), mode="bilinear"))


def _noisy(views: Tensor, generator: Generator) -> Tensor:
    chosen = _share(_NOISY_SHARE, len(views), generator)
    strength = _NOISE * torch.rand(len(chosen), 1, 1, 1, generator=generator)
    noise = torch.randn(views[chosen].shape, generator=generator)
    return views.index_copy(0, chosen, (views[chosen] + strength * noise).clamp(0, 1))
