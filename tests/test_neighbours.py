"""One X-ray or one patient replaced: no other label, patient or choice changes, and no released field does.

What is released besides ŝ must be the same function of all neighbouring inputs, or ε covers nothing."""

import dataclasses
import io
import json
import zipfile

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
FOLDERS = st.lists(st.sampled_from(["normal", "Viral", "site A", "train", "images", "w1"]), max_size=3)


@dataclasses.dataclass(frozen=True)
class Film:
    """An X-ray as someone files it: its path, and its row of a labels file, if it has one."""

    path: str
    row: tuple[str, str] | None  # label, patient


def films(names: list[str]) -> st.SearchStrategy[Film]:
    row = st.none() | st.tuples(st.sampled_from(["normal", "VIRAL", "other"]), st.sampled_from(["", "p1", "p2", "p3"]))
    paths = st.builds(lambda folders, name: "/".join([*folders, name]), FOLDERS, st.sampled_from(names))
    return st.builds(Film, paths, row)


FILED = st.lists(films(["1.png", "2.png", "3.png"]), min_size=2, max_size=8, unique_by=lambda film: film.path.lower())


def as_zip(files: dict[str, bytes]):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return upload("hospital.zip", out.getvalue())


def as_uploads(files: dict[str, bytes]):
    return [upload(f"picked/{name}", data) for name, data in files.items()]


def as_directory(files: dict[str, bytes], root):
    for name, data in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)
    return root


def told(filed: list[Film], source, by_rows: bool) -> dict[str, tuple]:
    """What each X-ray is told to be, by its path; those left out are not there."""
    files = {film.path: HEAD for film in filed}
    if by_rows:
        rows = [f"{film.path},{film.row[0]},{film.row[1]}\n" for film in filed if film.row]
        files["labels.csv"] = ("file,label,patient\n" + "".join(rows)).encode()
    try:
        folder = read_folder(source(files), classes=CLASSES)
    except FileError:
        return {}
    return {xray.name: (xray.label, xray.patient) for xray in folder.xrays}


@pytest.mark.parametrize("by_rows", [False, True], ids=["folders", "labels file"])
@pytest.mark.parametrize("source", [as_zip, as_uploads])
@settings(max_examples=60, deadline=None)
@given(filed=FILED, new=films(["1.png", "2.png", "new.png"]), index=st.integers(0, 7))
def test_one_xray_replaced_added_or_taken_away_changes_what_no_other_is_told(source, by_rows, filed, new, index):
    index %= len(filed)
    if new.path.lower() in {film.path.lower() for film in filed}:
        return
    before = told(filed, source, by_rows)
    others = filed[:index] + filed[index + 1 :]
    for after in ([*others, new], [new, *others], others, [*filed, new]):
        here = told(after, source, by_rows)
        kept = {film.path for film in filed} & {film.path for film in after}
        assert {path: before.get(path) for path in kept} == {path: here.get(path) for path in kept}


@pytest.mark.parametrize("by_rows", [False, True])
def test_folder_zip_and_upload_tell_the_same(by_rows, tmp_path):
    filed = [
        Film("normal/p/1.png", ("viral", "p1")),
        Film("site A/train/Viral/1.png", ("normal", "")),
        Film("2.png", None),
    ]
    ways = [as_zip, as_uploads, lambda files: as_directory(files, tmp_path / "hospital")]
    assert len({json.dumps(told(filed, way, by_rows), sort_keys=True) for way in ways}) == 1


def test_a_namesake_takes_no_record_away_and_adds_none():
    rows = b"file,label\n" + b"".join(b"%d.png,normal\n" % i for i in range(20))
    files = {f"w1/{i}.png": HEAD for i in range(20)} | {"labels.csv": rows}
    for more in ({}, {"w2/3.png": HEAD}, {"3.png": HEAD}, {"a/3.png": HEAD}):
        labels = {xray.name: xray.label for xray in read_folder(as_zip(files | more)).xrays}
        assert len(labels) == 20
        assert all(labels[f"w1/{i}.png"] == "normal" for i in range(20) if i != 3)


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
