"""Learning the generator: from the train split only, the same file every time; the bundled one is small."""

import numpy as np
import pytest

from ppsets_core.errors import FileError
from ppsets_core.synthetic import draw_xrays
from ppsets_core.synthetic.generator import BUNDLED, SIDE, load_generator, save_generator
from tests.coronahack import split_rows, write_stand_ins
from tools.learn_synthetic import emphasised, learn_generator
from tools.training_xrays import read_training_xrays


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Kaggle's folders with a few of the file names of each split, the X-rays synthetic."""
    path = tmp_path_factory.mktemp("data")
    for split, each in (("train", 12), ("calibration", 2)):
        write_stand_ins(path, split, each, lambda label, number: draw_xrays(1, seed=number, label=label)[0].grey * 255)
    return path


def test_learning_reads_the_train_split_only_and_repeats_itself(data, tmp_path):
    xrays = read_training_xrays(data)
    assert len(xrays.greys) == 36
    assert set(xrays.patients) <= {row["patient"] for row in split_rows("train")}
    for name in ("first.npz", "second.npz"):
        save_generator(learn_generator(xrays, components=6), tmp_path / name)
    assert (tmp_path / "first.npz").read_bytes() == (tmp_path / "second.npz").read_bytes()
    generator = load_generator(tmp_path / "first.npz")
    average = xrays.at(SIDE).mean(axis=0)
    assert np.corrcoef(generator.mean, average)[0, 1] > 0.9
    assert list(generator.classes) == sorted(set(xrays.labels))


def test_emphasis_moves_a_class_away_from_its_nearest_neighbour():
    before = np.array([[0.0, 0.0], [1.0, 0.0], [5.0, 0.0]])
    after = emphasised(before)
    assert after[0, 0] < 0 < 1 < after[1, 0]
    assert after[2, 0] > 5


def test_the_bundled_generator_is_small_and_holds_plain_arrays():
    assert BUNDLED.stat().st_size <= 6_000_000
    with np.load(BUNDLED, allow_pickle=False) as file:
        assert all(file[name].dtype.kind in "fiU" for name in file.files)


def test_a_folder_without_training_xrays_is_named(tmp_path):
    write_stand_ins(tmp_path / "some", "validation", 1, lambda label, number: np.zeros((80, 80)))
    with pytest.raises(FileError, match="no usable X-ray in some"):
        read_training_xrays(tmp_path / "some")


@pytest.mark.parametrize("data", [b"no archive", BUNDLED.read_bytes()[:1000]], ids=["other", "truncated"])
def test_a_damaged_generator_is_an_error_that_says_so(tmp_path, data):
    (tmp_path / "broken.npz").write_bytes(data)
    with pytest.raises(FileError, match="Restore"):
        load_generator(tmp_path / "broken.npz")
