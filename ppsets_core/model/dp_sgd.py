"""DP-SGD through Opacus: Poisson sampling, clipped gradients, and just enough Gaussian noise for the asked ε."""

import math
import warnings
from collections.abc import Callable, Sized
from dataclasses import dataclass

import torch
from torch import nn
from torch.optim import Optimizer
from torch.utils.data import DataLoader

from ppsets_core.errors import InputError

_ACCOUNTANT = "prv"
_TOLERANCE = 0.003


@dataclass(frozen=True)
class Privacy:
    """(ε, δ) for each X-ray trained on, and the norm to which each X-ray's gradient is clipped. A patient with k X-rays
    is protected as a group: by k · ε."""

    epsilon: float
    delta: float
    clip: float = 1.0

    def __post_init__(self) -> None:
        if not 0.05 <= self.epsilon <= 100:
            raise InputError(f"ε must be between 0.05 and 100, not {self.epsilon}.")
        if not 1e-12 <= self.delta < 0.1:
            raise InputError(f"δ must be between 1e-12 and 0.1, and below 1 / number of X-rays, not {self.delta}.")
        if not (math.isfinite(self.clip) and self.clip > 0):
            raise InputError(f"The clipping norm must be a number above 0, not {self.clip}.")


def make_private(
    layer: nn.Module,
    optimiser: Optimizer,
    loader: DataLoader,
    epochs: int,
    privacy: Privacy,
    generator: torch.Generator,
) -> tuple[nn.Module, Optimizer, DataLoader, Callable[[], float]]:
    """Opacus's wrappers of the three, and the function that tells the ε spent so far."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from opacus import PrivacyEngine
        from opacus.accountants.utils import get_noise_multiplier

        assert isinstance(loader.dataset, Sized)
        if privacy.delta >= 1 / len(loader.dataset):
            raise InputError(f"δ must be below 1 / {len(loader.dataset)}, one over the number of X-rays trained on.")
        noise = get_noise_multiplier(
            target_epsilon=privacy.epsilon,
            target_delta=privacy.delta,
            sample_rate=1 / len(loader),
            epochs=epochs,
            accountant=_ACCOUNTANT,
            epsilon_tolerance=_TOLERANCE * privacy.epsilon,
        )
        engine = PrivacyEngine(accountant=_ACCOUNTANT)
        wrapped = engine.make_private(
            module=layer,
            optimizer=optimiser,
            data_loader=loader,
            noise_multiplier=noise,
            max_grad_norm=privacy.clip,
            noise_generator=generator,
        )
    warnings.filterwarnings("ignore", message="Full backward hook is firing")

    def spent() -> float:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return engine.get_epsilon(privacy.delta)

    return *wrapped, spent
