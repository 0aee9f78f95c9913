"""Random views of a batch of X-rays: flips, turns, zooms, shifts, brightness, contrast and blur, a batch at a time."""

import math

import torch
from torch import Generator, Tensor
from torch.nn import functional as F

_LARGEST_TURN = math.radians(12)
_ZOOM = (0.72, 1.0)
_CONTRAST, _BRIGHTNESS = 0.25, 0.1
_BLURRED_SHARE, _BLUR, _BLUR_RADIUS = 0.3, (0.3, 2.0), 5


def augment(greys: Tensor, size: int, generator: Generator) -> Tensor:
    """A random view (N, 1, size, size) of each grey picture (N, 1, H, H) in [0, 1]."""
    views = F.grid_sample(
        greys,
        F.affine_grid(_random_affine(len(greys), generator), [len(greys), 1, size, size], align_corners=False),
        mode="bilinear",
        padding_mode="zeros",
        align_corners=False,
    )
    return _blur(_jitter(views, generator), generator)


def _uniform(low: float, high: float, count: int, generator: Generator) -> Tensor:
    return low + (high - low) * torch.rand(count, generator=generator)


def _random_affine(count: int, generator: Generator) -> Tensor:
    """Maps each view's pixels into its picture: a zoomed window, anywhere inside, turned and perhaps mirrored."""
    turn = _uniform(-_LARGEST_TURN, _LARGEST_TURN, count, generator)
    zoom = _uniform(*_ZOOM, count, generator)
    mirror = 1.0 - 2.0 * (torch.rand(count, generator=generator) < 0.5).float()
    right, down = ((1 - zoom) * _uniform(-1, 1, count, generator) for _ in range(2))
    cos, sin = zoom * torch.cos(turn), zoom * torch.sin(turn)
    rows = [torch.stack([mirror * cos, -sin, right], 1), torch.stack([mirror * sin, cos, down], 1)]
    return torch.stack(rows, 1)


def _jitter(views: Tensor, generator: Generator) -> Tensor:
    contrast = _uniform(1 - _CONTRAST, 1 + _CONTRAST, len(views), generator).view(-1, 1, 1, 1)
    brightness = _uniform(-_BRIGHTNESS, _BRIGHTNESS, len(views), generator).view(-1, 1, 1, 1)
    mean = views.mean(dim=(1, 2, 3), keepdim=True)
    return ((views - mean) * contrast + mean + brightness).clamp(0, 1)


def _blur(views: Tensor, generator: Generator) -> Tensor:
    """A share of the views softened by a Gaussian: X-rays that were shrunk, compressed or drawn are soft."""
    chosen = (torch.rand(len(views), generator=generator) < _BLURRED_SHARE).nonzero()[:, 0]
    if len(chosen) == 0:
        return views
    sigma = _uniform(*_BLUR, len(chosen), generator)
    offsets = torch.arange(-_BLUR_RADIUS, _BLUR_RADIUS + 1)
    kernel = torch.exp(-0.5 * (offsets / sigma[:, None]) ** 2)
    kernel = (kernel / kernel.sum(1, keepdim=True))[:, None]
    soft = F.pad(views[chosen].transpose(0, 1), [_BLUR_RADIUS] * 4, mode="replicate")
    soft = F.conv2d(
        F.conv2d(soft, kernel[:, :, :, None], groups=len(chosen)), kernel[:, :, None, :], groups=len(chosen)
    )
    return views.index_copy(0, chosen, soft.transpose(0, 1))
