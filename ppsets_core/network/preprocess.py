"""From a grey picture to what the network sees: the one place that training, prediction and Grad-CAM share."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from ppsets_core.xrays.frame import Frame, find_frame

DARK, BRIGHT = 0.5, 99.5
"""Percentiles between which a picture's greys lie; what is beyond them is a speck or a letter."""
NARROW = 0.7
"""A picture whose greys take less than this part of the range, a 12-bit X-ray in a 16-bit file say, is spread over all
of it; the others are left as they are, since the bundled network learnt from such."""
LOOKED_AT = 128


@dataclass(frozen=True)
class Preprocessing:
    """Even margins cut, shorter side resized to `resize`, the middle `crop` × `crop` kept, narrow greys spread over the
    whole range, then (grey − mean) / std on each channel.

    Only the middle square of an X-ray is ever seen, so only that is resized."""

    resize: int = 146
    crop: int = 128
    mean: tuple[float, float, float] = (0.5, 0.5, 0.5)
    std: tuple[float, float, float] = (0.25, 0.25, 0.25)

    @property
    def read_at_least(self) -> int:
        """Shorter side below which reading a picture at reduced scale would cost detail."""
        return 2 * self.resize

    def seen_of(self, frame: Frame) -> Frame:
        """The part of an X-ray in this frame that the network sees."""
        return frame.middle(self.crop / self.resize)

    def network_input(self, grey: np.ndarray, frame: Frame | None = None) -> Tensor:
        """One picture as the network takes it, 3 × crop × crop. `frame` is `find_frame`'s, if that is known already."""
        return self.normalise(centre_crop(resized_square(grey, self.resize, frame), self.crop))

    def normalise(self, greys: Tensor) -> Tensor:
        """Greys (…, 1, H, W) in [0, 1] as three normalised channels (…, 3, H, W)."""
        mean, std = (torch.tensor(values).view(3, 1, 1) for values in (self.mean, self.std))
        return (greys - mean) / std


def resized_square(grey: np.ndarray, side: int, frame: Frame | None = None) -> Tensor:
    """The X-ray's middle square resized to 1 × side × side, without aliasing, narrow greys spread."""
    frame = frame or find_frame(grey)
    black, white = _ends(frame.of(grey))
    square = torch.from_numpy(np.array(frame.middle().of(grey), dtype=np.float32))[None, None]
    if square.shape[-1] != side:
        square = F.interpolate(square, (side, side), mode="bilinear", antialias=True, align_corners=False)
    return ((square[0] - black) / (white - black)).clamp(0, 1)


def _ends(grey: np.ndarray) -> tuple[float, float]:
    """The greys that become black and white."""
    rows, columns = (max(1, side // LOOKED_AT) for side in grey.shape)
    black, white = np.percentile(grey[::rows, ::columns], (DARK, BRIGHT)).tolist()
    return (black, white) if 1e-6 < white - black < NARROW else (0.0, 1.0)


def centre_crop(picture: Tensor, crop: int) -> Tensor:
    """The middle square of a picture (…, H, W)."""
    top, left = ((side - crop) // 2 for side in picture.shape[-2:])
    return picture[..., top : top + crop, left : left + crop]
