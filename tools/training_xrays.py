"""The X-rays that the generator and the gate are learnt from: the `train` split of CoronaHack, nothing else."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from ppsets_core.errors import FileError
from tools.coronahack import read_coronahack

SIDE = 256


@dataclass(frozen=True, eq=False)
class TrainingXrays:
    """Every X-ray stretched to a square of 256 × 256 (uint8), with its label, patient and width ÷ height."""

    greys: np.ndarray
    labels: np.ndarray
    patients: np.ndarray
    aspects: np.ndarray

    def at(self, side: int) -> np.ndarray:
        """The squares averaged down to side × side, one row each, float32 in [0, 1]."""
        factor = SIDE // side
        blocks = self.greys.reshape(-1, side, factor, side, factor)
        return (blocks.mean(axis=(2, 4), dtype=np.float32) / 255).reshape(len(self.greys), -1)


def read_training_xrays(data: Path) -> TrainingXrays:
    """The `train` split of a folder with CoronaHack's pictures, in the order of their file names."""
    folder = read_coronahack(data, "train")
    rows = [(xray, *_square_and_aspect(picture.grey)) for xray, picture in folder.readable([])]
    if not rows:
        raise FileError(f"{data}: none of the pictures of the split train can be read. Download them again.")
    rows.sort(key=lambda row: row[0].name.split("/")[::-1])
    xrays, squares, aspects = zip(*rows, strict=True)
    labels, patients = (np.array([getattr(xray, name) for xray in xrays]) for name in ("label", "patient"))
    return TrainingXrays(np.stack(squares), labels, patients, np.array(aspects))


def patient_folds(patients: np.ndarray, folds: int, seed: int) -> np.ndarray:
    """A number below `folds` for every X-ray, the same for all X-rays of a patient."""
    names, index = np.unique(patients, return_inverse=True)
    return np.random.default_rng(seed).permutation(len(names))[index] % folds


def _square_and_aspect(grey: np.ndarray) -> tuple[np.ndarray, float]:
    height, width = grey.shape
    image = Image.fromarray((grey * 255).round().astype(np.uint8))
    return np.asarray(image.resize((SIDE, SIDE), Image.Resampling.BILINEAR)), width / height
