"""CoronaHack by the bundled split: patients from file names, and every picture where the X-rays are there."""

import pytest

from ppsets_core.xrays import Picture, read_folder
from ppsets_core.xrays.coronahack import SPLIT, read_coronahack
from ppsets_core.xrays.label_file import coronahack_patient
from tests.coronahack import CORONAHACK, needs_coronahack, split_rows

SIZES = {"train": 4405, "calibration": 1000, "validation": 500}


@pytest.mark.parametrize("split", SIZES)
def test_patients_from_file_names_are_those_of_the_split(split):
    assert len(split_rows(split)) == SIZES[split]
    assert all(coronahack_patient(f"{row['file']}.jpeg") == row["patient"] for row in split_rows(split))


@needs_coronahack
def test_the_three_splits_are_all_there():
    assert {split: len(read_coronahack(CORONAHACK, split).xrays) for split in SIZES} == SIZES
    folder = read_folder(CORONAHACK, labels=SPLIT)
    assert folder.classes == ("bacterial-pneumonia", "normal", "viral-pneumonia")
    stream = folder.pictures(at_least=64)
    assert all(isinstance(next(stream), Picture) for _ in range(50))
    stream.close()
