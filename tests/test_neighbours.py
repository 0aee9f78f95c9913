"""One X-ray or one patient replaced: no other label, patient or choice changes, and no released field does.

What is released besides ŝ must be the same function of all neighbouring inputs, or ε covers nothing."""

import io
import json
import re
import warnings
import zipfile
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ppsets_core import Records, calibrate, one_per_patient, read_folder, read_scores
from ppsets_core.errors import FileError
from ppsets_core.model.folder_records import records_of
from ppsets_core.model.prediction import FolderPrediction
from tests.xrays.samples import upload

CLASSES = ("normal", "viral")
HEAD = b"\x89PNG\r\n\x1a\n" + bytes(130)
FOLDERS = st.lists(st.sampled_from(["normal", "Viral", "site A", "train", "w1"]), max_size=2)
PATHS = st.builds(
    lambda folders, name: "/".join([*folders, name]), FOLDERS, st.sampled_from(["1.png", "2.png", "3.jpg"])
)
SPELLINGS = [str, str.upper, lambda path: path.replace("/", "\\"), lambda path: path[:-4], lambda path: f"./{path}"]
ROWS = st.tuples(
    st.builds(lambda path, spell: spell(path), PATHS, st.sampled_from(SPELLINGS)),
    st.sampled_from(["normal", "VIRAL", "other", ""]),
    st.sampled_from(["", "p1", "p2", "p3"]),
)


def as_zip(files: list[tuple[str, bytes]]):
    out = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(out, "w") as archive:
        warnings.simplefilter("ignore")  # of names that are there twice
        for name, data in files:
            archive.writestr(name, data)
    return upload("hospital.zip", out.getvalue())


def as_uploads(files: list[tuple[str, bytes]]):
    return [upload(f"picked/{name}", data) for name, data in files]


def as_uploads_without_folders(files: list[tuple[str, bytes]]):
    return [upload(name.rsplit("/", 1)[-1], data) for name, data in files]


def as_directory(files: list[tuple[str, bytes]], root):
    for name, data in files:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)
    return root


def labelled(paths: list[str], rows: list[tuple] | None, source) -> Counter | None:
    """How often each file is used with which label and patient; None if all of it was refused."""
    files = [(path, HEAD) for path in paths]
    if rows is not None:
        files += [("labels.csv", "\n".join(["file,label,patient", *map(",".join, rows)]).encode())]
    try:
        folder = read_folder(source(files), classes=CLASSES)
    except FileError as error:
        return Counter() if "no usable X-ray" in str(error) else None
    return Counter((re.sub(r" \(\d+\)$", "", x.name), x.label, x.patient) for x in folder.xrays)


def assert_neighbours(before: Counter | None, after: Counter | None) -> None:
    if before is not None and after is not None:
        assert (before - after).total() <= 1
        assert (after - before).total() <= 1


@pytest.mark.parametrize("source", [as_zip, as_uploads, as_uploads_without_folders])
@settings(max_examples=150, deadline=None)
@given(
    paths=st.lists(PATHS, min_size=1, max_size=7),
    odd=st.lists(ROWS, max_size=4),
    unlisted=st.integers(0, 2),
    new=PATHS,
    row=ROWS,
    index=st.integers(0, 9),
)
def test_one_file_or_row_or_both_changed_change_one_record(source, paths, odd, unlisted, new, row, index):
    """Whatever the others are: listed twice, under other spellings, not there, or of the same name elsewhere."""
    rows = [(path, "normal", f"q{i}") for i, path in enumerate(paths)][unlisted:] + odd
    here, line = index % len(paths), index % (len(rows) or 1)
    moved, edited = [*paths[:here], new, *paths[here + 1 :]], [*rows[:line], row, *rows[line + 1 :]]
    assert_neighbours(labelled(paths, None, source), labelled(moved, None, source))
    before = labelled(paths, rows, source)
    assert_neighbours(before, labelled(moved, rows, source))
    assert_neighbours(before, labelled(paths, edited, source))
    assert_neighbours(before, labelled(paths, rows[1:], source))
    assert_neighbours(before, labelled(paths[1:], rows, source))
    if here >= unlisted:
        own = here - unlisted
        filed = [*rows[:own], (new, *row[1:]), *rows[own + 1 :]]
        assert_neighbours(before, labelled(moved, filed, source))


@pytest.mark.parametrize("by_rows", [False, True])
def test_folder_zip_and_upload_are_labelled_alike(by_rows, tmp_path):
    paths = ["normal/p/1.png", "site A/train/Viral/1.png", "1.png", "2.png"]
    rows = [(paths[0], "viral", "p1"), (paths[1], "normal", ""), (paths[2], "normal", "p2")] if by_rows else None
    ways = [as_zip, as_uploads, lambda files: as_directory(files, tmp_path / "hospital")]
    zipped, uploaded, filed = (labelled(paths, rows, way) for way in ways)
    assert zipped == uploaded == filed
    assert zipped.total() == (3 if by_rows else 4)


@pytest.mark.parametrize("source", [as_zip, as_uploads, as_uploads_without_folders])
@pytest.mark.parametrize(
    ("paths", "rows", "said"),
    [
        ([], ["3.png"], "lines 5 and 22: both could be 3.png"),
        ([], [".\\3"], "lines 5 and 22: both could be 3.png"),
        (["a/X.png", "b/x.png"], ["x"], "line 22: 'x' could be"),
        (["a/x.png"], ["a/x.png", "x.png"], "lines 22 and 23: both could be"),
    ],
)
def test_a_labels_file_that_leaves_a_choice_is_refused_as_a_whole(source, paths, rows, said):
    names = [f"{i}.png" for i in range(20)]
    files = [(name, HEAD) for name in [*names, *paths]]
    lines = "".join(f"{name},viral,q{name}\n" for name in [*names, *rows])
    with pytest.raises(FileError, match=rf"^labels\.csv, {re.escape(said)}.* No row was used"):
        read_folder(source([*files, ("labels.csv", f"file,label,patient\n{lines}".encode())]), classes=CLASSES)


# Records: what is released, and which record of each other patient is used.

PEOPLE = st.lists(st.sampled_from(["", "a", "b", "c", "d", "17"]), min_size=3, max_size=20)


def public(records: Records) -> dict:
    """Every field of a release but the threshold and the date, of one record for each patient and of all records."""
    drawn = [calibrate(some, 0.1, 1.0) for some in (one_per_patient(records), records)]
    return [{key: value for key, value in vars(one).items() if key not in ("thresholds", "date")} for one in drawn]


def score_csv(rows: list[tuple]) -> Records:
    return read_scores(
        ("patient,label,normal,viral\n" + "".join(f"{p},{y},{1 - s},{s}\n" for p, y, s in rows)).encode()
    )


def score_json(rows: list[tuple]) -> Records:
    return read_scores(
        json.dumps([{"patient": p, "label": y, "normal": 1 - s, "viral": s} for p, y, s in rows]).encode()
    )


def score_npz(rows: list[tuple]) -> Records:
    out = io.BytesIO()
    shares = np.array([[1 - s, s] for *_, s in rows])
    patients, labels, _ = map(list, zip(*rows, strict=True))
    np.savez(out, probabilities=shares, label=labels, classes=CLASSES, patient=patients)
    return read_scores(out.getvalue())


def classified(rows: list[tuple]) -> Records:
    """As X-rays with a labels file that has a column of patients."""
    patients, labels, scores = zip(*rows, strict=True)
    names = tuple(map(str, range(len(rows))))
    shares = np.array([[1 - s, s] for s in scores])
    model = type("Model", (), {"classes": CLASSES, "fingerprint": "ab" * 8})
    return records_of("X-rays", model, FolderPrediction(names, labels, patients, shares, ()))[0]


READERS = {"csv": score_csv, "json": score_json, "npz": score_npz, "X-rays": classified}


def table(people: list[str]) -> list[tuple]:
    return [(person, CLASSES[i % 2], round((i + 1) / (len(people) + 2), 3)) for i, person in enumerate(people)]


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
@settings(max_examples=25, deadline=None)
@given(
    people=PEOPLE,
    index=st.integers(0, 19),
    label=st.sampled_from(["normal", "VIRAL", "Normal"]),
    copies=st.integers(1, 3),
)
def test_one_patient_replaced_leaves_every_released_field_but_the_threshold(read, people, index, label, copies):
    """A patient, or a record that names nobody, becomes another one with more or fewer records, or unnamed."""
    rows = table(people)
    gone = rows[index % len(rows)]
    others = [row for row in rows if row is not gone and (gone[0] == "" or row[0] != gone[0])]
    before = public(read(rows))[0]
    for new in ([("new", label, 0.123)] * copies, [("", label, 0.123)]):
        changed = read([*others, *new])
        assert public(changed)[0] == before
        used = one_per_patient(changed)
        mine = {("new", 0.123), ("", 0.123)}
        kept = {(p, round(float(s), 6)) for p, s in zip(used.patients, score_of_class(used), strict=True)} - mine
        first = one_per_patient(read(rows))
        same = {(p, round(float(s), 6)) for p, s in zip(first.patients, score_of_class(first), strict=True)}
        assert kept <= same
        assert len(same - kept) <= 1


def score_of_class(records: Records) -> np.ndarray:
    return records.probabilities[:, 1]


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
@settings(max_examples=25, deadline=None)
@given(people=PEOPLE, index=st.integers(0, 19), person=st.sampled_from(["", "a", "new"]))
def test_one_record_replaced_leaves_unit_and_n_as_they_were_where_all_are_used_and_n_within_one_else(
    read, people, index, person
):
    rows = table(people)
    changed = list(rows)
    changed[index % len(rows)] = (person, "viral", 0.5)
    (patients, records), (patients_after, records_after) = public(read(rows)), public(read(changed))
    assert records == records_after
    assert records["unit"] == "record"
    assert patients["unit"] == patients_after["unit"] == "patient"
    assert abs(patients["n"] - patients_after["n"]) <= 1
    assert (patients["classes"], patients["model"]) == (patients_after["classes"], patients_after["model"])
