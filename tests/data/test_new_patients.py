"""Tables of new patients: every format, identifiers kept, classes by name, labels where known."""

import io

import pandas as pd
import pytest

from ppsets_core import FileError, InputError, calibrate
from ppsets_core.data import read_scores
from ppsets_core.files.names import plain_cell

TEXT = "id,file,label,age,a,b\nx1,one.png,a,61,0.75,0.25\n007,two.png,,58,0.5,0.5\nx3,three.png,zebra,4,0,1\n"


def read(text: str, **options):
    return read_scores(text.encode(), "new.csv", **options, labels="optional")


def test_rows_keep_the_files_own_identifiers_and_each_label_stands_alone():
    found = read(TEXT, classes=("a", "b"))
    assert {name: values.tolist() for name, values in found.identifiers.items()} == {
        "id": ["x1", "007", "x3"],
        "file": ["one.png", "two.png", "three.png"],
    }
    assert found.labels.tolist() == [0, -1, -1]
    assert found.checkable().tolist() == [0]
    assert found.labelled().scores.tolist() == [0.25]
    with pytest.raises(InputError, match="true diagnosis of every record"):
        calibrate(found, 0.1, 1.0)


def test_without_labels_and_names_rows_are_numbered():
    found = read("a,b\n0.75,0.25\n\n0.5,0.5\n")
    assert found.labels is None
    assert found.identifiers["line"].tolist() == ["2", "4"]
    assert found.classes == ("a", "b")
    assert len(found.checkable()) == 0


def test_labels_that_are_numbers_count_the_files_own_columns():
    text = "label,b,age,a\n0,0.25,61,0.75\n1,0.5,3,0.5\n1.0,0.5,3,0.5\na,0.5,3,0.5\n2,0.5,3,0.5\n"
    assert read(text, classes=("a", "b")).labels.tolist() == [1, 0, 0, 0, -1]


def test_an_index_that_pandas_wrote_is_no_diagnosis():
    frame = pd.DataFrame({"label": ["a", "b", "a"], "a": [0.5, 0.2, 0.9], "b": [0.5, 0.8, 0.1]}, index=[7, 3, 5])
    written = io.BytesIO()
    frame.to_parquet(written)
    assert b"__index_level_0__" in written.getvalue()
    assert read_scores(written.getvalue(), "x.parquet", labels="optional").classes == ("a", "b")
    assert read_scores(written.getvalue(), "x.parquet").classes == ("a", "b")


def test_classes_that_a_spreadsheet_would_run_are_known_again_from_our_own_csv():
    text = ",".join(map(plain_cell, ("label", "+ve", "-ve"))) + "\n'+ve,0.9,0.1\n-ve,0.2,0.8\n"
    assert read_scores(text.encode(), "x.csv").classes == ("+ve", "-ve")
    assert read_scores(text.encode(), "x.csv").labels.tolist() == [0, 1]
    assert read(text, classes=("+ve", "-ve")).labels.tolist() == [0, 1]


def test_classes_are_found_by_name_in_any_order():
    found = read("b,age,a\n0.25,61,0.75\n", classes=("a", "b"))
    assert found.probabilities.tolist() == [[0.75, 0.25]]


@pytest.mark.parametrize(
    ("text", "classes", "words"),
    [
        (
            "a,b\n0.5,0.5",
            ("a", "c"),
            "no column of probabilities for c; found are a, b. Use the calibration of the model",
        ),
        ("a,b,c\n0.5,0.2,0.3", ("a", "b"), "do not sum to 1"),
        ("a,age,b\n0.5,61,0.5", (), "outside"),
        ("name,a\nx,1", (), "two or more diagnoses"),
        ("a,b\n0.5,nan\n0.5,0.5", ("a", "b"), "line 2, column 'b'"),
        ("a,b,novelty\n0.5,0.5,2", ("a", "b"), "column 'novelty'"),
        ("a,b,novelty\n0.5,0.5,\n0.5,0.5,", ("a", "b"), "column 'novelty'"),
        ("a,b,novelty\n0.5,0.5,n/a\n0.5,0.5,n/a\n0.5,0.5,0.2", ("a", "b"), "column 'novelty'"),
    ],
)
def test_what_cannot_be_used_is_refused_with_what_to_do(text, classes, words):
    with pytest.raises(FileError, match=words):
        read(text, classes=classes)


def test_groups_novelty_and_parts_travel_along():
    text = "id,site,split,novelty,label,a,b\n1,n,train,0.5,a,1,0\n2,s,test,0.25,a,1,0\n"
    found = read(text, classes=("a", "b"), group="site")
    assert found.groups["site"].tolist() == ["n", "s"]
    assert found.novelty.tolist() == [0.5, 0.25]
    assert found.checkable().tolist() == [1]
    assert read(text, classes=("a", "b"), split="test").identifiers["id"].tolist() == ["2"]
    with pytest.raises(FileError, match="says each record's group"):
        read(text, classes=("a", "b"), group="ward")


SPLIT = "split,patient,label,a,b\nTrain,1,a,0.75,0.25\nfit,2,a,0.5,0.5\ntest,3,b,0.5,0.5\ntraining,4,b,0,1\n"


def test_training_rows_are_left_out_one_by_one_and_a_part_can_be_chosen():
    found = read_scores(SPLIT.encode(), "s.csv")
    assert (found.patients.tolist(), found.splits.tolist(), found.left_out) == (["2", "3"], ["fit", "test"], 2)
    part = read_scores(SPLIT.encode(), "s.csv", split="test")
    assert (part.patients.tolist(), part.scores.tolist()) == (["3"], [0.5])


@pytest.mark.parametrize(
    ("text", "split", "words"),
    [
        (SPLIT, "training", "cannot be used: the model has learnt from them"),
        (SPLIT, "north", "no row of the part 'north'; there are: fit, test"),
        ("label,a,b\na,0.5,0.5", "test", "no column 'split'"),
        ("split,score\ntrain,0.5\ntrain,0.25", None, "every row is of the training part"),
    ],
)
def test_a_part_that_cannot_be_used_is_refused_with_the_reason(text, split, words):
    with pytest.raises(FileError, match=words):
        read_scores(text.encode(), "s.csv", split=split)


def test_a_refusal_names_the_line_of_the_file_though_rows_were_left_out():
    with pytest.raises(FileError, match="line 3"):
        read_scores(b"split,label,a,b\ntrain,a,1,0\ntest,a,2,0\n", "s.csv")
