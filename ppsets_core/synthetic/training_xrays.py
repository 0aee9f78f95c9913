"""The X-rays that the generator and the gate are learnt from: the `train` split of CoronaHack, nothing else."""

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from ppsets_core.errors import FileError

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
    """Reads `labels.csv` and `images/` of the data folder; only rows whose `split` is `train`."""
    try:
        with (data / "labels.csv").open(newline="") as file:
            rows = [row for row in csv.DictReader(file) if row["split"] == "train"]
    except (OSError, KeyError) as error:
        raise FileError(f"{data}: needs a labels.csv with the columns file, label, patient, split.") from error
    if not rows:
        raise FileError(f"{data}: labels.csv has no X-ray whose split is train.")
    squares, aspects = [], []
    for row in sorted(rows, key=lambda row: row["file"]):
        with Image.open(data / "images" / row["file"]) as image:
            aspects.append(image.width / image.height)
            squares.append(np.asarray(image.convert("L").resize((SIDE, SIDE), Image.Resampling.BILINEAR)))
    rows.sort(key=lambda row: row["file"])
    labels, patients = (np.array([row[column] for row in rows]) for column in ("label", "patient"))
    return TrainingXrays(np.stack(squares), labels, patients, np.array(aspects))
