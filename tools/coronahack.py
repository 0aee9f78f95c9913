"""The CoronaHack data set by the parts that the bundled model was trained on and never saw."""

from pathlib import Path

from ppsets_core.model.folder_records import SPLIT
from ppsets_core.xrays import XrayFolder, read_folder

HELD_OUT = ("calibration", "validation")


def read_coronahack(folder: str | Path, split: str) -> XrayFolder:
    """`train`, `calibration` or `validation` of Kaggle's download (a folder or its zip), in whatever folders.

    Labels, patients and parts come from `assets/coronahack_split.csv`."""
    return read_folder(folder, labels=SPLIT, split=split, to_learn=True)
