"""Novelty a(x): the distance of an X-ray's features to the nearest class of the training X-rays, in [0, 1]."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from ppsets_core.errors import FileError
from ppsets_core.places import MODELS

BUNDLED = MODELS / "novelty.npz"


@dataclass(frozen=True, eq=False)
class Statistics:
    """Class means and shared covariance of the features before a network's last layer, learnt from public X-rays.

    `model`: fingerprint of the weights they belong to; they say nothing about others. `power`: the features are raised
    to it first, which makes them less skewed. `middle`: logarithm of the distance that becomes ½; `spread`: how much it
    must grow for the odds to grow by a factor of e."""

    model: str
    power: float
    means: np.ndarray  # (K, F)
    whitener: np.ndarray  # (F, F): the covariance's inverse is whitener.T @ whitener
    middle: float
    spread: float

    def distance(self, features: np.ndarray) -> np.ndarray:
        """The least Mahalanobis distance of each row (N, F) to a class mean."""
        white = straightened(features, self.power) @ self.whitener.T
        means = self.means @ self.whitener.T
        return np.sqrt(np.min([((white - mean) ** 2).sum(axis=1) for mean in means], axis=0))

    def novelty(self, features: np.ndarray) -> np.ndarray:
        """a(x) of each row: 0 for an X-ray just like the training X-rays, towards 1 the less it is like them."""
        logarithm = np.log(np.maximum(self.distance(features), 1e-9))
        return 1 / (1 + np.exp(np.clip(-(logarithm - self.middle) / self.spread, -700, 700)))


def straightened(features: np.ndarray, power: float) -> np.ndarray:
    """Features (of which none is negative, after a ReLU) raised to a power."""
    return np.maximum(np.asarray(features, dtype=np.float64), 0) ** power


def statistics_of(model: str | None) -> Statistics | None:
    """The bundled statistics if they belong to the weights with this fingerprint, else None."""
    bundled = load_statistics() if BUNDLED.is_file() else None
    return bundled if bundled is not None and bundled.model == model else None


@cache
def load_statistics(path: Path = BUNDLED) -> Statistics:
    """Read the file once."""
    try:
        with np.load(path, allow_pickle=False) as file:
            means, whitener = (file[name].astype(np.float64) for name in ("means", "whitener"))
            power, middle, spread = (float(file[name]) for name in ("power", "middle", "spread"))
            return Statistics(str(file["model"]), power, means, whitener, middle, spread)
    except (OSError, KeyError, ValueError, TypeError, BadZipFile) as error:
        raise FileError(f"{path}: not novelty's numbers. Restore the file from the project.") from error
