"""How the whole network is trained, and what is told about it on the way."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from ppsets_core.errors import InputError


@dataclass(frozen=True)
class Recipe:
    """AdamW, one cycle, smoothed labels, averaged weights. From scratch the first epochs (`coarse_share` of them) see
    smaller views (`coarse_size` pixels), which cost a third."""

    epochs: int = 22
    batch_size: int = 32
    learning_rate: float = 2e-3
    weight_decay: float = 0.05
    label_smoothing: float = 0.05
    held_out: float = 0.08
    average: float = 0.995
    coarse_share: float = 0.65
    coarse_size: int = 96
    seed: int = 0

    def __post_init__(self) -> None:
        check_settings(self.epochs, self.batch_size, self.learning_rate)


@dataclass(frozen=True)
class Epoch:
    """What a watcher hears after each epoch; the shares are of the X-rays held out by patient (NaN without any)."""

    epoch: int
    epochs: int
    loss: float
    accuracy: float
    macro_recall: float


Watcher = Callable[[Epoch], None]


def check_settings(epochs: int, batch_size: int, learning_rate: float) -> None:
    """Refuses settings that cannot train."""
    if epochs < 1:
        raise InputError(f"The number of epochs must be at least 1, not {epochs}.")
    if batch_size < 2:
        raise InputError(f"The batch size must be at least 2, not {batch_size}.")
    if not (math.isfinite(learning_rate) and learning_rate > 0):
        raise InputError(f"The learning rate must be a number above 0, not {learning_rate}.")
