"""From a grey picture to what the network sees: the one place that training, prediction and Grad-CAM share."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from ppsets_core.xrays.frame import Frame, to_model_square

MIDDLE = (0.47, 0.73)
"""Where the middle grey may lie. Most of the X-rays that the bundled network learnt from lie within and stay as they
are: how bright a lung is tells something. An export with another gamma is bent until it lies within."""


@dataclass(frozen=True)
class Preprocessing:
    """The whole X-ray without its even margins, stretched to `side` × `side`, its greys spread over the whole range,
    then (grey − mean) / std on each channel."""

    side: int = 160
    mean: tuple[float, float, float] = (0.5, 0.5, 0.5)
    std: tuple[float, float, float] = (0.25, 0.25, 0.25)

    @property
    def read_at_least(self) -> int:
        """Shorter side below which reading a picture at reduced scale would cost detail."""
        return 2 * self.side

    def network_input(self, grey: np.ndarray, frame: Frame | None = None) -> Tensor:
        """One picture as the network takes it, 3 × side × side. `frame` is `find_frame`'s, if that is known already."""
        return self.normalise(stretched(grey, self.side, frame))

    def normalise(self, greys: Tensor) -> Tensor:
        """Greys (…, 1, H, W) in [0, 1] as three normalised channels (…, 3, H, W)."""
        mean, std = (torch.tensor(values).view(3, 1, 1) for values in (self.mean, self.std))
        return (greys - mean) / std


def stretched(grey: np.ndarray, side: int, frame: Frame | None = None) -> Tensor:
    """The whole X-ray as greys (1, side, side) in [0, 1]."""
    return torch.from_numpy(to_model_square(grey, side, frame, MIDDLE))[None]
