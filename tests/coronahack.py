"""CoronaHack's X-rays where they are at hand, and stand-ins under the same names in the same folders where not."""

import csv
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from ppsets_core.model.folder_records import SPLIT

_CHECKOUT = Path(__file__).resolve().parents[1]
_PLACES = [_CHECKOUT / "coronahack", *(parent / "shared" / "coronahack" for parent in _CHECKOUT.parents)]
_GIVEN = os.environ.get("PPSETS_CORONAHACK")
CORONAHACK = Path(_GIVEN) if _GIVEN else next(filter(Path.is_dir, _PLACES), _PLACES[0])


def needs_coronahack(test: Callable) -> Callable:
    """Marks a test that reads the real X-rays; without them it is skipped."""
    told = "needs the CoronaHack X-rays: unpack them into coronahack/, or name their folder in PPSETS_CORONAHACK"
    return pytest.mark.coronahack(pytest.mark.skipif(not CORONAHACK.is_dir(), reason=told)(test))


def split_rows(split: str) -> list[dict[str, str]]:
    """What `assets/coronahack_split.csv` says of the X-rays of one split."""
    with SPLIT.open(newline="", encoding="utf-8") as file:
        return [row for row in csv.DictReader(file) if row["split"] == split]


def write_stand_ins(folder: Path, split: str, each: int, draw: Callable[[str, int], np.ndarray]) -> None:
    """`each` X-rays a class of one split, drawn by `draw(label, number)`, where Kaggle's zip has them."""
    below = folder / "Coronahack-Chest-XRay-Dataset" / "Coronahack-Chest-XRay-Dataset"
    counts: dict[str, int] = {}
    for row in split_rows(split):
        number = counts[row["label"]] = counts.get(row["label"], 0) + 1
        if number <= each:
            path = below / ("test" if number % 4 == 0 else "train") / f"{row['file']}.jpeg"
            path.parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(draw(row["label"], number).astype(np.uint8)).save(path, quality=95)
    (folder / "Chest_xray_Corona_dataset_Summary.csv").write_text("Label,Image_Count\nNormal,1\n")
