"""How badly a small picture fits what upright chest X-rays look like: distance and residual in component space."""

from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from PIL import Image

from ppsets_core.errors import FileError
from ppsets_core.places import MODELS
from ppsets_core.synthetic.components import principal_components, standardised

BUNDLED = MODELS / "chest_xray_gate.npz"
SIDE = 32
COMPONENTS = 160


@dataclass(frozen=True, eq=False)
class Fit:
    """A Gaussian of standardised 32 × 32 chest X-rays, and the two limits that a chest X-ray keeps to."""

    mean: np.ndarray  # (SIDE²,)
    components: np.ndarray  # (COMPONENTS, SIDE²)
    variances: np.ndarray  # (COMPONENTS,)
    residual: np.ndarray  # () mean squared residual of a chest X-ray
    limit: np.ndarray  # () largest misfit of a chest X-ray
    margin: np.ndarray  # () how many times worse a chest X-ray must fit turned or inverted

    def misfit(self, rows: np.ndarray) -> np.ndarray:
        """Squared distance within the components plus squared residual outside them, each 1 for a typical X-ray."""
        centred = standardised(rows) - self.mean
        coefficients = np.einsum("np,kp->nk", centred, self.components)  # `@` starts threads: slow on a busy machine
        residual = (centred**2).sum(axis=1) - (coefficients**2).sum(axis=1)
        return (coefficients**2 / self.variances).mean(axis=1) + residual / self.residual


def fit_gaussian(rows: np.ndarray) -> Fit:
    """The Gaussian of these pictures, without limits yet."""
    mean, components, variances = principal_components(standardised(rows), COMPONENTS)
    residual = variances[COMPONENTS:].sum()
    return Fit(mean, components, variances[:COMPONENTS], residual, np.array(np.inf), np.array(1.0))


def square_view(grey: np.ndarray, side: int = SIDE) -> np.ndarray:
    """The whole picture averaged down to side × side, whatever its size; large ones are thinned out first."""
    step = max(1, min(grey.shape) // 256)
    image = Image.fromarray(np.ascontiguousarray(grey[::step, ::step], dtype=np.float32))
    return np.asarray(image.resize((side, side), Image.Resampling.BOX))


def save_fit(fit: Fit, path: Path) -> None:
    """Compressed arrays only, no pickles."""
    arrays: dict[str, Any] = {f.name: np.asarray(getattr(fit, f.name), dtype=np.float32) for f in fields(Fit)}
    np.savez_compressed(path, **arrays | {"components": fit.components.astype(np.float16)})


@cache
def load_fit(path: Path = BUNDLED) -> Fit:
    """Reads the gate's numbers once."""
    try:
        with np.load(path, allow_pickle=False) as file:
            return Fit(**{field.name: file[field.name].astype(np.float32) for field in fields(Fit)})
    except (OSError, KeyError, ValueError, BadZipFile) as error:
        raise FileError(f"{path}: not the chest X-ray gate's numbers. Restore the file from the project.") from error
