"""The CoronaHack data set by the parts that the bundled model was trained on and never saw."""

import re
from functools import lru_cache
from pathlib import Path

from ppsets_core.places import ASSETS
from ppsets_core.xrays.folder import XrayFolder, read_folder
from ppsets_core.xrays.label_file import parse_labels
from ppsets_core.xrays.labels import SUFFIX

SPLIT = ASSETS / "coronahack_split.csv"
NAMESAKE = re.compile(r" \(\d+\)$")
"""What a listing adds to a repeated name."""
HELD_OUT = ("calibration", "validation")


def read_coronahack(folder: str | Path, split: str) -> XrayFolder:
    """`train`, `calibration` or `validation` of Kaggle's download (a folder or its zip), in whatever folders.

    Labels, patients and parts come from `assets/coronahack_split.csv`."""
    return read_folder(folder, labels=SPLIT, split=split, to_learn=True)


def is_learnt_from(name: str) -> bool:
    """Whether a file is named like an X-ray that the bundled model was trained on, whatever its folder."""
    name = NAMESAKE.sub("", name.casefold().rsplit("/", 1)[-1])
    return SUFFIX.sub("", name) in _learnt_from()


@lru_cache(maxsize=1)
def _learnt_from() -> frozenset[str]:
    rows = parse_labels(SPLIT.read_bytes()) if SPLIT.is_file() else []
    return frozenset(SUFFIX.sub("", row.file.casefold()) for row in rows if row.split == "train")
