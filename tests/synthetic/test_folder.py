"""Synthetic X-rays as files: the folder reads back as labelled X-rays, and every file says what it is."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from ppsets_core.synthetic import draw_xrays, write_folder
from ppsets_core.synthetic.examples import write_examples
from ppsets_core.xrays.folder import read_folder

ASSETS = Path(__file__).parents[2] / "assets"
EXAMPLES = sorted(ASSETS.glob("synthetic_*.png"))


def greys(file: Path) -> np.ndarray:
    with Image.open(file) as image:
        assert image.mode == "L"
        return np.asarray(image, dtype=np.float32) / 255


def test_a_written_folder_reads_back_as_drawn(tmp_path):
    files = write_folder(tmp_path, 6, seed=4)
    folder = read_folder(tmp_path)
    assert folder.classes == ("bacterial-pneumonia", "normal", "viral-pneumonia")
    assert sorted(xray.label for xray in folder.xrays) == sorted(xray.label for xray in draw_xrays(6, seed=4))
    for file, drawn in zip(files, draw_xrays(6, seed=4), strict=True):
        assert file.parent.name == drawn.label
        np.testing.assert_allclose(greys(file), drawn.grey, atol=0.5 / 255 + 1e-6)


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_files_say_that_they_are_synthetic(file):
    with Image.open(file) as image:
        assert "synthetic" in image.text["Description"]
        assert min(image.size) >= 256
    assert file.stat().st_size < 150_000


def test_the_bundled_dozen_is_what_its_command_writes(tmp_path):
    written = write_examples(tmp_path)
    assert [file.name for file in written] == [file.name for file in EXAMPLES]
    assert [sum(name in file.name for file in written) for name in ("bacterial", "normal", "viral")] == [4, 4, 4]
    for new, bundled in zip(written, EXAMPLES, strict=True):
        np.testing.assert_allclose(greys(new), greys(bundled), atol=2 / 255)
