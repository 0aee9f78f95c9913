"""The shared CoronaHack X-rays, where they are there: labels, patients and every picture."""

import csv
from pathlib import Path

import pytest

from ppsets_core.xrays import Picture, read_folder
from ppsets_core.xrays.coronahack import patient_of

SHARED = Path("/work/shared/coronahack")

pytestmark = [
    pytest.mark.coronahack,
    pytest.mark.skipif(not SHARED.is_dir(), reason="needs the CoronaHack X-rays"),
]


def test_the_folder_is_read_by_its_labels_file():
    folder = read_folder(SHARED)
    assert len(folder.xrays) == 5905
    assert folder.classes == ("bacterial-pneumonia", "normal", "viral-pneumonia")
    assert [refused.name for refused in folder.refused] == ["README.md"]
    stream = folder.pictures(at_least=64)
    assert all(isinstance(next(stream), Picture) for _ in range(50))
    stream.close()


def test_patients_from_file_names_are_those_of_the_labels_file():
    with (SHARED / "labels.csv").open() as file:
        assert all(patient_of(row["file"]) == row["patient"] for row in csv.DictReader(file))
