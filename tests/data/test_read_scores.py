"""Score files of every format, good and bad, from a path, an upload and bytes."""

import io
import json
from contextlib import nullcontext

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ppsets_core import FileError, read_scores
from ppsets_core.data.counts import select
from ppsets_core.data.parquet import plain_columns
from ppsets_core.data.source import open_source
from ppsets_core.files.names import plain_cell, same_names
from tests.data.data_sets import npy, npz, parquet

SCORES = np.array([0.25, 0.0, 1.0, 0.5])
TABLE = {
    "patient": ["a", "a", "b", "c"],
    "label": ["viral", "normal", "normal", "viral"],
    "normal": [0.25, 1.0, 0.5, 0.125],
    "viral": [0.75, 0.0, 0.5, 0.875],
}
ROWS = list(zip(*TABLE.values(), strict=True))
TRUE_SCORES = [0.25, 0.0, 0.5, 0.125]


CSV = "\n".join(",".join(map(str, row)) for row in (TABLE, *ROWS))

SCORE_FILES = {
    "header.csv": b"score\n0.25\n0\n1\n0.5\n",
    "no-header.csv": b"0.25\n0\n1\n0.5",
    "only-numeric.csv": b"name,value\nx,0.25\ny,0\nz,1\nw,0.5\n",
    "capital.csv": b"SCORE , name\n0.25,a\n0,b\n1,c\n0.5,d\n",
    "array.npy": npy(SCORES),
    "column.npy": npy(SCORES[:, None].astype(np.float32)),
    "archive.npz": npz(scores=SCORES),
    "table.parquet": parquet({"score": SCORES, "name": ["a", "b", "c", "d"]}),
    "list.json": b"[0.25, 0, 1, 0.5]",
    "records.json": json.dumps([{"score": s} for s in SCORES.tolist()]).encode(),
    "columns.json": json.dumps({"scores": SCORES.tolist()}).encode(),
}
PROBABILITY_FILES = {
    "comma.csv": CSV.encode(),
    "split.csv": CSV.replace("patient", "split,patient", 1).replace("\n", "\nx,").encode(),
    "table.parquet": parquet(TABLE),
    "records.json": json.dumps([dict(zip(TABLE, row, strict=True)) for row in ROWS]).encode(),
    "columns.json": json.dumps(TABLE).encode(),
    "named.npz": npz(**{name: np.array(column) for name, column in TABLE.items()}),
    "matrix.npz": npz(
        probabilities=np.array([TABLE["normal"], TABLE["viral"]]).T,
        labels=np.array(TABLE["label"]),
        classes=np.array(["normal", "viral"]),
        patients=np.array(TABLE["patient"]),
    ),
}


class Upload(io.BytesIO):
    """As Streamlit hands it over: a stream with a name, possibly read before."""

    def __init__(self, name: str, data: bytes) -> None:
        super().__init__(data)
        self.name = name
        self.read()


@pytest.mark.parametrize("name", SCORE_FILES)
def test_scores_from_path_upload_and_bytes(name, tmp_path):
    (tmp_path / name).write_bytes(SCORE_FILES[name])
    for file in (tmp_path / name, str(tmp_path / name), Upload(name, SCORE_FILES[name])):
        records = read_scores(file)
        assert records.scores.tolist() == SCORES.tolist()
        assert records.source == name
        assert records.probabilities is None
    assert read_scores(SCORE_FILES[name], name=name).scores.dtype == np.float64


@pytest.mark.parametrize("name", PROBABILITY_FILES)
def test_probabilities_with_labels_and_patients(name):
    records = read_scores(Upload(name, PROBABILITY_FILES[name]))
    assert records.scores.tolist() == TRUE_SCORES
    assert records.classes == ("normal", "viral")
    assert records.labels.tolist() == [1, 0, 0, 1]
    assert records.patients.tolist() == TABLE["patient"]
    assert records.patient_count == 3


@pytest.mark.parametrize("label", ["normal", "viral", "other"])
def test_a_score_column_wins_whatever_the_other_columns_and_labels_are(label):
    records = read_scores(f"score,label,normal,viral\n0.5,{label},0.5,0.5\n0.25,viral,0.25,0.75".encode())
    assert records.scores.tolist() == [0.5, 0.25]
    assert records.classes == ()


REFUSALS = {
    "empty.csv": (b"", "empty.csv: it is empty"),
    "blank.csv": (b"\n \n", "it is empty"),
    "outside.csv": (b"score\n\n0.1\n1.5\n2.5", "line 4, column 'score': the score is outside .* \\(2 such places\\)"),
    "negative.npy": (npy(np.array([0.1, -0.2])), "row 2, column 'score': the score is outside"),
    "one-class.csv": (b"label,a\na,1", "a 'label' but no probabilities"),
    "twice-in-plural.csv": (b"score,Scores\n0.1,0.2", "the column 'score' stands more than once"),
    "twice.json": (b'{"score": [0.1], "score": [0.2]}', "the column 'score' stands more than once"),
    "unclear.csv": (b"a,b\n0.1,0.2", "2 columns hold numbers"),
    "no-numbers.csv": (b"a,b\nx,y", "no column of numbers"),
    "no-header.csv": (b"0.1,0.2\n0.3,0.4", "line 1: the first line must name the columns"),
    "ragged.csv": (b"score,name\n0.1,a\n0.2\n", "line 3: it has 1 cells where the header has 2"),
    "open-quote.csv": (b'score,name\n0.1,"a\n0.2,b\n0.3,c\n', "line 4: a cell goes on beyond its line"),
    "latin1.csv": ("score,name\n0.1,Jürgen".encode("latin-1"), "line 2: the text is not UTF-8"),
    "matrix.npy": (npy(np.ones((2, 3)) / 3), "one score per record. For probabilities use NPZ"),
    "short.npy": (npy(SCORES)[:-3], "cut short"),
    "huge.npy": (npy(SCORES).replace(b"(4,)", b"(9999999999999,)"), "header is damaged|cut short"),
    "short.npz": (npz(score=SCORES)[:60], "archive is damaged"),
    "sheet.npz": (b"PK\x03\x04 not really", "archive is damaged"),
    "short.parquet": (parquet({"score": SCORES})[:-9], "Parquet file is damaged or cut short"),
    "lengths.json": (b'{"label": ["a"], "a": [0.5, 0.5], "b": [0.5, 0.5]}', "not all of one length"),
    "nested.json": (b"[[0.1], [0.2]]", "nested"),
    "number.json": (b'{"score": 0.5}', "list of scores"),
    "cut.json": (b"[0.1,\n0.2", "line 2: it is not valid JSON"),
    "deep.json": (b"[" * 100_000, "not valid JSON"),
    "shape.npz": (npz(probabilities=np.ones((2, 2)) / 2, labels=[0, 1], classes=["a"]), "1 names for 2 probabilities"),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_refusals_name_the_file_the_place_and_the_remedy(name):
    data, what = REFUSALS[name]
    with pytest.raises(FileError, match=what) as refusal:
        read_scores(Upload(name, data))
    assert str(refusal.value).startswith(name)


GOOD = [data for files in (SCORE_FILES, PROBABILITY_FILES) for data in files.values()]


@st.composite
def damaged(draw) -> bytes:
    data = bytearray(draw(st.sampled_from(GOOD)))
    for _ in range(draw(st.integers(1, 8))):
        data[draw(st.integers(0, len(data) - 1))] = draw(st.integers(0, 255))
    return bytes(data[: draw(st.integers(0, len(data)))])


@given(damaged() | st.binary(max_size=300), st.sampled_from([".csv", ".tsv", ".npy", ".npz", ".json", ""]))
@example(b"\xff\xfe\x00", ".csv")
@example(b";", ".csv")
@settings(max_examples=300, deadline=None)
def test_damaged_files_and_random_bytes_are_read_or_refused(data, ending):
    try:
        if data.startswith(b"PAR1"):  # a process for each example would take minutes
            plain_columns(data)
            return
        records = read_scores(data, name="file" + ending)
    except FileError:
        return
    assert ((records.scores >= 0) & (records.scores <= 1)).all()


MODEL = "0123456789abcdef"


@pytest.mark.parametrize("word", ["ResNet-18", "", MODEL, MODEL + "\u0660", "x" * 101])
def test_one_model_has_one_short_name_in_the_users_own_words(word):
    refused = pytest.raises(FileError, match="1 to 100 printable characters") if len(word) > 100 else nullcontext()
    with refused:
        assert read_scores(f"score,model,x\n0.1,{word},1\n0.2,{word},2\n".encode()).model == (word or None)
    with pytest.raises(FileError, match=r"s\.csv, line 3, column 'model': it is of another model than the first row"):
        read_scores(f"score,model\n0.1,{word}\n0.2,other\n".encode(), "s.csv")


def test_a_column_of_groups_is_read_by_its_name_and_is_neither_a_score_nor_a_class():
    records = read_scores(b"ward,label,a,b\n1,a,0.25,0.75\nnorth,b,0.5,0.5\n", group="ward")
    assert (records.classes, list(records.groups["ward"])) == (("a", "b"), ["1", "north"])
    data = b"ward,value\n1,0.25\n2,0.5\n"
    assert read_scores(data, group="ward").scores.tolist() == [0.25, 0.5]
    with pytest.raises(FileError, match=r"s\.csv: there is no column 'site'"):
        read_scores(data.replace(b"value", b"score"), "s.csv", group="site")


@pytest.mark.parametrize("name", ["patient", "Patient_ID", "PatientID", "patient id", "subject"])
def test_patients_are_known_by_the_usual_names(name):
    records = read_scores(f"{name},score\n7,0.1\n7,0.2\n9,0.3\n".encode(), "s.csv")
    assert list(records.patients) == ["7", "7", "9"]


def test_a_patient_that_a_format_stores_as_not_a_number_is_nobody():
    """A table of numbers with gaps, as it is saved: its gaps are many people, not one called 'nan'."""
    columns = {"score": np.array([0.1, 0.2, 0.3]), "patient": np.array([17.0, np.nan, np.nan])}
    table = json.dumps({"score": [0.1, 0.2, 0.3], "patient": [17, float("nan"), None]}).encode()
    for data, name in ((npz(**columns), "a.npz"), (parquet(columns), "a.parquet"), (table, "a.json")):
        assert read_scores(data, name).patients.tolist() == ["17", "", ""]


def test_whether_patients_have_a_column_does_not_hinge_on_one_name(tmp_path):
    """A column of text without an entry has no type in Parquet; a JSON record may lack a key."""
    for patients in (pa.nulls(3), pa.array([None, None, "z"])):
        data = parquet({"score": [0.1, 0.2, 0.3], "patient": patients})
        assert read_scores(data, "a.parquet").has_patients
        (tmp_path / "part.parquet").write_bytes(data)
        chosen = select(open_source(tmp_path))
        assert (chosen.unit, len(chosen)) == ("patient", 3)
    with pytest.raises(FileError, match="record 3: its fields are not those of the first"):
        read_scores(json.dumps([{"score": 0.1}, {"score": 0.2}, {"score": 0.3, "patient": "z"}]).encode(), "a.json")


def test_bytes_that_are_no_text_are_refused_and_make_no_two_patients_one():
    data = npz(score=np.array([0.1, 0.2]), patient=np.array([b"M\xfcller", b"M\xf6ller"]))
    with pytest.raises(FileError, match="patient"):
        read_scores(data, "a.npz")


def test_any_name_may_be_a_class_and_labels_are_alike_in_any_unicode_form():
    rows = "COVID,fibr\u00f6se,label\n0.2,0.8,fibro\u0308se\n0.9,0.1,covid\n"
    found = read_scores(rows.encode(), "a.csv")
    assert found.scores.tolist() == pytest.approx([0.2, 0.1])
    new = read_scores(rows.replace("fibr\u00f6se", "fibro\u0308se").encode(), classes=found.classes, labels="optional")
    assert new.labels.tolist() == [1, 0]


def test_a_long_number_that_is_none_takes_no_time():
    names = ["0" * 998 + "x"] * 3000
    assert same_names(names) == names
    spellings = ["0", "00", "0.0", "17", "017", "17.0", "17.", "-017", "1.50", "-", "", "0x", "100"]
    assert same_names(spellings) == ["0", "0", "0", "17", "17", "17", "17", "-17", "1.50", "-", "", "0x", "100"]
    assert plain_cell(";" + " " * 900 + "x") == ";" + " " * 900 + "x"


def test_every_kind_of_mistake_is_told_at_once():
    rows = ["label,a,b,novelty", "a,0.9,0.1,0.5", "c,1.2,-0.2,0.5", "b,x,0.5,7"]
    with pytest.raises(FileError) as refused:
        read_scores("\n".join(rows).encode(), "f.csv")
    told = str(refused.value)
    for where, what in (
        ("line 4, column 'a'", "not a finite number"),
        ("line 3, column 'a'", "outside [0, 1]; give softmax outputs"),
        ("line 3, column 'label'", "none of the probability columns (a, b)"),
        ("line 4, column 'novelty'", "the novelty is outside [0, 1]"),
    ):
        assert told.count(f"f.csv, {where}: ") == 1
        assert what in told
