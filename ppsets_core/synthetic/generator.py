"""The learnt generator: components of chest X-rays, one Gaussian per class, and the texture that these leave out."""

from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from ppsets_core.errors import FileError
from ppsets_core.places import MODELS

BUNDLED = MODELS / "synthetic_xrays.npz"
SIDE = 128
"""Side of the components' square, pixels."""
EXTRAS = 4
"""What a class's Gaussian draws beside the coefficients: mean grey, log contrast, log aspect, log texture."""


@dataclass(frozen=True, eq=False)
class Generator:
    """A standardised picture is mean + coefficients · components; one Gaussian a class draws coefficients and extras.

    Learnt without differential privacy, from a public data set: its privacy is that of averages over 4,405 X-rays."""

    classes: np.ndarray  # (K,) names
    mean: np.ndarray  # (SIDE²,)
    components: np.ndarray  # (k, SIDE²) int8
    steps: np.ndarray  # (k,) what one int8 step is worth
    latent_mean: np.ndarray  # (K, k + EXTRAS)
    latent_root: np.ndarray  # (K, k + EXTRAS, k + EXTRAS) Cholesky factor of the covariance
    spectrum: np.ndarray  # (K, 65, 65) amplitude of the texture by vertical and horizontal frequency
    strength: np.ndarray  # (K, 16, 16) where in the picture the texture is strong

    def standardised_picture(self, coefficients: np.ndarray) -> np.ndarray:
        """The soft picture (SIDE × SIDE) that these coefficients stand for, before contrast and brightness."""
        weights = (coefficients * self.steps).astype(np.float32)
        soft = np.einsum("k,kp->p", weights, self.components)  # `@` starts threads: slow on a busy machine
        return (self.mean + soft).reshape(SIDE, SIDE)


def save_generator(generator: Generator, path: Path) -> None:
    """Compressed arrays only, no pickles; the same generator always gives the same bytes."""
    arrays = {field.name: getattr(generator, field.name) for field in fields(Generator)}
    for name in ("steps", "latent_mean", "mean"):
        arrays[name] = arrays[name].astype(np.float32)
    for name in ("latent_root", "spectrum", "strength"):
        arrays[name] = arrays[name].astype(np.float16)
    np.savez_compressed(path, **arrays)


@cache
def load_generator(path: Path = BUNDLED) -> Generator:
    """Reads a generator once; the bundled one unless told otherwise."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {field.name: file[field.name] for field in fields(Generator)}
    except (OSError, KeyError, ValueError, BadZipFile) as error:
        raise FileError(f"{path}: not a generator of synthetic X-rays. Restore the file from the project.") from error
    for name, array in arrays.items():
        if array.dtype.kind in "fi":
            arrays[name] = array.astype(np.float32)
    return Generator(**arrays)
