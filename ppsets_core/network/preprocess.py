"""From a grey picture to what the network sees: the one place that training, prediction and Grad-CAM share."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F


@dataclass(frozen=True)
class Preprocessing:
    """Shorter side resized to `resize`, the middle `crop` × `crop` kept, then (grey − mean) / std on each channel.

    Only the middle square of a picture is ever seen, so only that is resized."""

    resize: int = 146
    crop: int = 128
    mean: tuple[float, float, float] = (0.5, 0.5, 0.5)
    std: tuple[float, float, float] = (0.25, 0.25, 0.25)

    @property
    def read_at_least(self) -> int:
        """Shorter side below which reading a picture at reduced scale would cost detail."""
        return 2 * self.resize

    def network_input(self, grey: np.ndarray) -> Tensor:
        """One picture as the network takes it, 3 × crop × crop."""
        return self.normalise(centre_crop(resized_square(grey, self.resize), self.crop))

    def normalise(self, greys: Tensor) -> Tensor:
        """Greys (…, 1, H, W) in [0, 1] as three normalised channels (…, 3, H, W)."""
        mean, std = (torch.tensor(values).view(3, 1, 1) for values in (self.mean, self.std))
        return (greys - mean) / std


def middle_square(grey: np.ndarray) -> np.ndarray:
    """The largest square in the middle of a picture (H × W), whatever its proportions."""
    side = min(grey.shape)
    top, left = crop_corner(grey.shape[0], grey.shape[1], side)
    return grey[top : top + side, left : left + side]


def resized_square(grey: np.ndarray, side: int) -> Tensor:
    """The picture's middle square resized to 1 × side × side, without aliasing."""
    square = torch.from_numpy(np.array(middle_square(grey), dtype=np.float32))[None, None]
    if square.shape[-1] == side:
        return square[0]
    return F.interpolate(square, (side, side), mode="bilinear", antialias=True, align_corners=False)[0].clamp(0, 1)


def crop_corner(height: int, width: int, crop: int) -> tuple[int, int]:
    """Top and left of the middle `crop` × `crop` square."""
    return (height - crop) // 2, (width - crop) // 2


def centre_crop(picture: Tensor, crop: int) -> Tensor:
    """The middle square of a picture (…, H, W)."""
    top, left = crop_corner(picture.shape[-2], picture.shape[-1], crop)
    return picture[..., top : top + crop, left : left + crop]
