"""How badly a small picture fits what upright chest X-rays look like: distance and residual in component space."""

from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from ppsets_core.errors import FileError
from ppsets_core.model.gate.kinds import KindNetwork
from ppsets_core.places import MODELS
from ppsets_core.synthetic.components import principal_components, standardised

BUNDLED = MODELS / "chest_xray_gate.npz"
SIDE = 32
COMPONENTS = 160


@dataclass(frozen=True, eq=False)
class Fit:
    """A Gaussian of standardised 32 × 32 chest X-rays, the limit that a chest X-ray keeps to, and the network."""

    mean: np.ndarray  # (SIDE²,)
    components: np.ndarray  # (COMPONENTS, SIDE²)
    variances: np.ndarray  # (COMPONENTS,)
    residual: np.ndarray  # () mean squared residual of a chest X-ray
    limit: np.ndarray  # () largest misfit of a chest X-ray
    network: KindNetwork | None = None

    def misfit(self, rows: np.ndarray) -> np.ndarray:
        """Squared distance within the components plus squared residual outside them, each 1 for a typical X-ray."""
        centred = standardised(rows) - self.mean
        coefficients = np.einsum("np,kp->nk", centred, self.components)  # `@` starts threads: slow on a busy machine
        residual = (centred**2).sum(axis=1) - (coefficients**2).sum(axis=1)
        return (coefficients**2 / self.variances).mean(axis=1) + residual / self.residual


def fit_gaussian(rows: np.ndarray) -> Fit:
    """The Gaussian of these pictures, without limit and network yet."""
    mean, components, variances = principal_components(standardised(rows), COMPONENTS)
    residual = variances[COMPONENTS:].sum()
    return Fit(mean, components, variances[:COMPONENTS], residual, np.array(np.inf))


_GAUSSIAN = tuple(field.name for field in fields(Fit) if field.name != "network")
_NETWORK = tuple(field.name for field in fields(KindNetwork))


def save_fit(fit: Fit, path: Path) -> None:
    """Compressed arrays only, no pickles."""
    arrays: dict[str, Any] = {name: np.asarray(getattr(fit, name), dtype=np.float32) for name in _GAUSSIAN}
    arrays |= {name: np.asarray(getattr(fit.network, name), dtype=np.float32) for name in _NETWORK}
    large = {name: arrays[name].astype(np.float16) for name in ("components", "first")}
    np.savez_compressed(path, **arrays | large)


@cache
def load_fit(path: Path = BUNDLED) -> Fit:
    """Reads the gate's numbers once."""
    try:
        with np.load(path, allow_pickle=False) as file:
            network = KindNetwork(*(file[name].astype(np.float32) for name in _NETWORK))
            gaussian = {name: file[name].astype(np.float32) for name in _GAUSSIAN}
            return Fit(**gaussian, network=network)
    except (OSError, KeyError, ValueError, BadZipFile) as error:
        raise FileError(f"{path}: not the chest X-ray gate's numbers. Restore the file from the project.") from error
