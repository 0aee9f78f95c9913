"""One X-ray, record or patient replaced, by every way in: no other record changes, and nothing that is released or
logged does.

What is released besides ŝ must be the same function of all neighbouring inputs, or ε covers nothing. A file may be
refused as a whole, before anything is counted. PPSETS_EXAMPLES=10000 tries more neighbours than a usual run.
"""

import csv
import io
import json
import os
import re
import sqlite3
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ppsets_core import Ledger, Plan, Records, one_per_patient, plan, read_folder, read_scores, records
from ppsets_core.data import parquet as parquet_reader
from ppsets_core.data.counts import Selection, select
from ppsets_core.data.source import open_source
from ppsets_core.errors import FileError, InputError
from ppsets_core.files.names import same_name
from ppsets_core.ledger.export import export_csv, export_json
from ppsets_core.method.release import release
from ppsets_core.model.folder_records import records_of
from ppsets_core.model.prediction import FolderPrediction
from tests.data.data_sets import Used, npz, parquet
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


# Records of one file: which are used, and all that a release says or leaves behind but what is drawn

EXAMPLES = int(os.environ.get("PPSETS_EXAMPLES", "300"))
SITES = ("north", "south")
DRAWN = {"thresholds", "threshold", "novelty_threshold"}
WHEN = {"date", "time", "id", "request", "digest"}  # the digest is keyed, of the cohort's keyed hashes


@dataclass(frozen=True)
class Row:
    patient: object
    label: str = "normal"
    share: float = 0.5
    site: str = "north"
    novelty: float = 0.25
    note: str = ""


@dataclass(frozen=True)
class Layout:
    """The columns of a file, and what is asked of it."""

    scores: bool
    patients: bool
    model: bool
    novelty: bool
    note: bool
    all_records: bool
    per: str | None


ODD = ["", " ", "a", "A ", "b", "17", "017", "17.0", "=1+1", "'=1+1", "José", "Jose\u0301", "\ufdfa", '"', '"a', 'b"']
ODD += ["x,y"]
ODD += ["x\ny", "\r", "\t", "nan", "None", "\u200b", "0", "1e400", "\ud7ff", "'", "0.5", "\ufb01", "x" * 1001]
TEXT = st.sampled_from(ODD) | st.text(st.characters(codec="utf-8"), max_size=3)
NUMBERS = st.sampled_from([17, 17.0, 0.1, 2**53 + 1, 10**30, -0.0, True, None])  # JSON has more than text
SHARES = st.sampled_from([0.0, 1.0, 0.5, 1 / 3, 0.1, 0.7])
NEIGHBOUR = st.builds(
    Row, TEXT | NUMBERS, st.sampled_from(["normal", "VIRAL", "Viral", "0", "1.0", " normal", "other"]), SHARES,
    st.sampled_from([*SITES, "elsewhere"]) | TEXT, SHARES, TEXT,
)  # fmt: skip
ROW = st.builds(
    Row, st.sampled_from(["", "a", "b", "c", "17", "017"]), st.sampled_from(["normal", "viral", "VIRAL"]), SHARES,
    st.sampled_from(SITES), SHARES, st.sampled_from(["", "x", "0.5", "y"]),
)  # fmt: skip
LAYOUT = st.builds(Layout, *[st.booleans()] * 6, st.sampled_from([None, "diagnosis", "site"]))


def columns_of(rows: list[Row], layout: Layout) -> dict[str, list]:
    columns: dict[str, list] = {"site": [row.site for row in rows]}
    if layout.scores:
        columns |= {"score": [row.share for row in rows]}
    else:
        columns |= {"label": [row.label for row in rows], "normal": [1 - row.share for row in rows]}
        columns |= {"viral": [row.share for row in rows]}
    columns |= {"model": ["ab" * 8] * len(rows)} if layout.model else {}
    columns |= {"novelty": [row.novelty for row in rows]} if layout.novelty else {}
    columns |= {"note": [row.note for row in rows]} if layout.note else {}
    return columns | ({"patient": [row.patient for row in rows]} if layout.patients else {})


def texts(columns: dict[str, list]) -> dict[str, list]:
    """Patients as text, as every format but JSON has them."""
    return columns | {name: list(map(str, columns[name])) for name in ("patient",) if name in columns}


def delimited(columns: dict[str, list], sign: str = ",", **quoting) -> bytes:
    out = io.StringIO()
    csv.writer(out, delimiter=sign, **quoting).writerows([list(columns), *zip(*columns.values(), strict=True)])
    return out.getvalue().encode()


def bare(columns: dict[str, list]) -> bytes:
    """A CSV that nobody quotes: what a cell says is taken for what it may do."""
    return "\n".join(",".join(map(str, row)) for row in (columns, *zip(*columns.values(), strict=True))).encode()


def as_records(columns: dict[str, list]) -> bytes:
    return json.dumps([dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]).encode()


def by_file(ending: str, write: Callable[[dict[str, list]], bytes], prepare=texts):
    def read(columns: dict[str, list], group: str | None, folder: Path) -> Records:
        return read_scores(write(prepare(columns)), f"ward.{ending}", group=group)

    return read


def by_parts(ending: str, write: Callable[[dict[str, list]], bytes]):
    def opened(columns: dict[str, list], group: str | None, folder: Path) -> Selection:
        (folder / "ward").mkdir()
        for number in range(2):
            some = {name: cells[number * 5 : number * 5 + 5 + 99 * number] for name, cells in texts(columns).items()}
            (folder / "ward" / f"part-{number}.{ending}").write_bytes(write(some))
        return select(open_source(folder / "ward", group=group))

    return opened


def by_arrays(columns: dict[str, list], group: str | None, folder: Path) -> Records:
    """As a program gives its own arrays."""
    shares = None if "score" in columns else np.column_stack([columns["normal"], columns["viral"]])
    facts = {"patients": columns.get("patient"), "groups": {group: columns["site"]} if group else None}
    model, classes = "ab" * 8 if "model" in columns else None, CLASSES if "label" in columns else None
    return records(shares, columns.get("label"), scores=columns.get("score"), classes=classes, model=model, **facts)


def by_xrays(columns: dict[str, list], group: str | None, folder: Path) -> Records:
    """As a network classifies X-rays that a labels file describes."""
    labels = [label.strip() for label in columns.get("label", ["none"])]
    if group or not {label.casefold() for label in labels} <= set(CLASSES):
        raise InputError("X-rays have no groups, and one without a known label is no record")
    names, shares = tuple(map(str, columns["viral"])), np.column_stack([columns["normal"], columns["viral"]])
    patients = texts(columns).get("patient", [None] * len(names))
    model = type("Model", (), {"classes": CLASSES, "fingerprint": "ab" * 8})
    return records_of("ward", model, FolderPrediction(names, tuple(labels), tuple(patients), shares, ()))[0]


WAYS = {
    "CSV": by_file("csv", delimited),
    "CSV without quotes": by_file("csv", bare),
    "semicolons": by_file("csv", lambda columns: delimited(columns, ";", quoting=csv.QUOTE_ALL)),
    "TSV": by_file("tsv", lambda columns: delimited(columns, "\t")),
    "JSON": by_file("json", as_records, dict),
    "JSON by columns": by_file("json", lambda columns: json.dumps(columns).encode(), dict),
    "NPZ": by_file("npz", lambda columns: npz(**columns)),
    "Parquet": by_file("parquet", parquet),
    "parts": by_parts("parquet", parquet),
    "parts of CSV": by_parts("csv", delimited),
    "arrays": by_arrays,
    "X-rays": by_xrays,
}


def outcome(way: str, rows: list[Row], layout: Layout, logged: bool) -> tuple[Counter, dict] | None:
    """The records that are used, and all that a release says or leaves behind; None where the file is refused."""
    apart = patch.object(parquet_reader, "parse_in_sandbox", lambda _, data: parquet_reader.plain_columns(data))
    with TemporaryDirectory() as name, apart:
        try:
            found = WAYS[way](columns_of(rows, layout), "site" if layout.per == "site" else None, Path(name))
            if isinstance(found, Selection):
                found = select(found, all_records=layout.all_records)
            elif not layout.all_records:
                found = one_per_patient(found)
            named = {"diagnosis": {"classes": found.classes}, "site": {"groups": SITES}, None: {}}[layout.per]
            share = 0.2 if found.has_novelty else 0.0
            asked = plan(len(found), 0.3, 40.0, m=10, per=layout.per, novelty_share=share, **named)
            counts = found.counts(asked, Used)
        except InputError:
            return None
        said = {"unit": found.unit, "release": json.loads(release(counts).to_json())}
        said |= logged_of(found, asked, Path(name) / "ledger.sqlite") if logged else {}
        return counts.cohort, without(said)


def logged_of(found, asked: Plan, path: Path) -> dict:
    """All that a ledger keeps and exports of a release."""
    ledger = Ledger(path)
    ledger.release(found, asked, ledger.open_account("ward", 1000), reason="audit")
    db = sqlite3.connect(path)
    entries = [(kind, json.loads(body)) for kind, body in db.execute("SELECT kind, body FROM entries")]
    db.close()
    for _, body in entries:
        body.update({key: json.loads(body[key]) for key in ("text",) if key in body})
    exported = list(csv.DictReader(io.StringIO(export_csv(ledger))))
    return {"entries": entries, "exported": [json.loads(export_json(ledger)), exported]}


def without(value):
    """Without what was drawn, and when."""
    if isinstance(value, dict):
        return {key: without(one) for key, one in value.items() if key not in DRAWN | WHEN}
    return [without(one) for one in value] if isinstance(value, list | tuple) else value


@pytest.mark.faults
@settings(max_examples=EXAMPLES, deadline=None)
@given(
    way=st.sampled_from(list(WAYS)),
    rows=st.lists(ROW, min_size=2, max_size=12),
    layout=LAYOUT,
    new=NEIGHBOUR,
    index=st.integers(0, 11),
    copies=st.integers(0, 3),
    logged=st.integers(0, 9).map(lambda number: number == 9),
)
@example("CSV without quotes", [Row("a"), Row("b"), Row("c")], Layout(*[True] * 6, None), Row('"d'), 1, 0, False)
def test_one_record_or_patient_replaced_changes_one_record_and_nothing_that_is_said(
    way, rows, layout, new, index, copies, logged
):
    """Where all records are used, one becomes any other. Where one is used of each patient, a patient with all records
    becomes another with `copies`, or one record becomes another of the same patient."""
    index %= len(rows)
    gone, others = rows[index], rows[:index] + rows[index + 1 :]
    if layout.all_records or not layout.patients:
        after = [*others[:index], new, *others[index:]]
    elif copies:
        after = [row for row in others if not gone.patient or not same(row, gone)]
        after += [replace(new, patient="somebody new")] * copies
    else:
        after = [*others[:index], replace(new, patient=gone.patient), *others[index:]]
    one, other = (outcome(way, some, layout, logged) for some in (rows, after))
    if one is not None and other is not None:
        assert (one[0] - other[0]).total() <= 1
        assert (other[0] - one[0]).total() <= 1
        assert one[1] == other[1]


def same(row: Row, other: Row) -> bool:
    return same_name(str(row.patient)) == same_name(str(other.patient))


@pytest.mark.parametrize("way", WAYS)
def test_the_comparison_notices_records_and_columns(way):
    """Files of this kind are read, and a difference in what is said would be seen."""
    layout = Layout(False, True, True, False, False, True, None)
    rows = [Row(f"p{number % 7}", CLASSES[number % 2], number / 20) for number in range(20)]
    found = outcome(way, rows, layout, True)
    assert found is not None
    for other in (replace(layout, all_records=False), replace(layout, patients=False)):
        assert found[1] != outcome(way, rows, other, True)[1]
    assert outcome(way, [replace(rows[0], share=0.77), *rows[1:]], layout, True)[0] != found[0]


@settings(max_examples=100, deadline=None)
@given(people=st.lists(st.sampled_from(["", "a", "b", "c", "17"]), min_size=3, max_size=20), index=st.integers(0, 19))
def test_one_record_that_changes_hands_changes_n_by_one_at_most(people, index):
    """Where one record of each patient is used: n is public, and so are the numbers that follow from it."""
    rows = [Row(person, CLASSES[i % 2], i / 20) for i, person in enumerate(people)]
    layout = Layout(False, True, True, False, False, False, None)
    one, other = (outcome("CSV", [*rows[:i], Row("a"), *rows[i + 1 :]], layout, False) for i in (index % len(rows), 0))
    assert abs(one[0].total() - other[0].total()) <= 1
    for field in ("unit", "classes", "model"):
        assert one[1]["release"][field] == other[1]["release"][field]
