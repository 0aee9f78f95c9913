"""Hostile score files, one after another on Calibrate: a sentence each, nothing run, and the next good file is read."""

import numpy as np
import pytest

from ppsets_core import FileError, read_scores
from tests.attacks.score_files import REFUSED
from tests.pages.driving import records_read, texts

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.fixture
def calibrate(screen):
    at = screen("calibrate")
    return at.radio(key="source").set_value("A score file").run()


def test_each_bad_file_is_one_sentence_and_the_next_good_one_is_read(calibrate, score_csv):
    at = calibrate
    wrong = {}
    for name, (data, said) in REFUSED.items():
        at.file_uploader(key="score_file").set_value((name, data, "")).run()
        assert not at.exception
        told = texts(at)
        if f"{name}" not in told or said not in told or records_read(at):
            wrong[name] = told[-300:]
    assert wrong == {}
    at.file_uploader(key="score_file").set_value(("good.csv", score_csv(50), "")).run()
    assert records_read(at)[0] == "50"
    assert not at.error


def test_two_hundred_megabytes_are_not_even_read(tmp_path):
    """The uploader takes no more than 100 MB; whatever else hands the file over meets the reader's own bound."""

    class Endless:
        name = "huge.csv"
        given = 0

        def read(self, size: int = -1) -> bytes:
            assert 0 <= size <= 100_000_001
            self.given += size
            return b"0.5\n" * (size // 4 + 1)

    endless = Endless()
    with pytest.raises(FileError, match=r"^huge\.csv: larger than 100 MB"):
        read_scores(endless)
    assert endless.given <= 100_000_001


def test_the_uploaders_own_bound_is_the_readers(calibrate):
    assert calibrate.file_uploader(key="score_file").proto.max_upload_size_mb == 100


def test_names_of_classes_are_shown_without_hidden_characters():
    records = read_scores(b'{"label": ["c", "c"], "\\ud800x": [0.5, 0.5], "b\\u202e": [0.5, 0.5], "c": [0, 0]}')
    assert records.classes == ("x", "b", "c")
    assert np.array_equal(records.labels, [2, 2])


@pytest.mark.parametrize("columns", [300, 9000])
def test_messages_do_not_list_every_class(columns):
    header = ",".join(["label", *(f"class {i}" for i in range(columns))])
    for row in (",".join(["none", "1", *["0"] * (columns - 1)]), ",".join(["class 1", *["1"] * columns])):
        with pytest.raises(FileError) as refusal:
            read_scores(f"{header}\n{row}".encode())
        assert len(str(refusal.value)) < 600
