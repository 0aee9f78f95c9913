"""CoronaHack's X-rays by the parts that the bundled model learnt from and never saw, wherever they were unpacked."""

from pathlib import Path

from ppsets_core.places import ASSETS
from ppsets_core.xrays.folder import XrayFolder, read_folder

SPLIT = ASSETS / "coronahack_split.csv"
HELD_OUT = ("calibration", "validation")


def read_coronahack(folder: str | Path, split: str) -> XrayFolder:
    """`train`, `calibration` or `validation` of Kaggle's download (a folder or its zip), in any arrangement of folders.

    Labels, patients and parts are those of `assets/coronahack_split.csv`."""
    return read_folder(folder, labels=SPLIT, split=split)
