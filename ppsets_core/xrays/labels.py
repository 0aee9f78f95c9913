"""The label and patient of every picture of a folder: by a labels file, or by the folders' names.

Each goes by its own path or row, never by other files. Adding, removing or moving one X-ray then changes no other, so
that neighbouring folders give neighbouring records."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, NamedTuple

from ppsets_core.errors import FileError
from ppsets_core.files import Refused
from ppsets_core.files.column_names import SEEN, is_training
from ppsets_core.files.handles import FileLike, name_of, read_bytes
from ppsets_core.files.names import shown_name
from ppsets_core.xrays.label_file import MAX_BYTES, LabelRow, names_labels, parse_labels
from ppsets_core.xrays.listing import Entry

SUFFIX = re.compile(r"\.(png|jpe?g|tiff?|dcm|dicom)$")
NOT_A_LABEL = {
    *("train", "test", "val", "valid", "validation", "calibration"),
    *("data", "image", "images", "img", "pictures", "xray", "xrays", "x-ray", "x-rays"),
}
NOT_TO_LEARN = "a model that learns from them can neither be calibrated nor checked with them"
SPLIT_COLUMNS = "the columns file, label and split"
Labels = str | Path | FileLike | Literal[False] | None


class LabelAndPatient(NamedTuple):
    """`patient` is None if no column names patients, '' if the row is blank."""

    label: str | None
    patient: str | None


@dataclass(frozen=True)
class Labelling:
    """For each picture its label and patient, or why it is not used (None: of another split); what else was refused
    (rows without a file, unused tables); and sentences on where the labels come from."""

    answers: Sequence[LabelAndPatient | str | None]
    refused: list[Refused]
    notes: tuple[str, ...] = ()


class LabelRows:
    """A labels file's rows by path. A look-up takes one step for each of an X-ray's folders."""

    def __init__(self, rows: Sequence[LabelRow], label_file: str) -> None:
        self.label_file = label_file
        self.rows = rows
        self._by_path: dict[str, LabelRow] = {}
        self._by_name: dict[str, LabelRow] = {}
        self._met: set[str] = set()
        for row in rows:
            path = row.file.casefold()
            self._add(self._by_path, path, row)
            if row.folder:
                self._add(self._by_path, f"{row.folder}/{path}", row)
            if "/" in path:
                self._add(self._by_name, path.rsplit("/", 1)[-1], row)

    def row_of(self, path: str, given_in: str = "") -> LabelRow | None:
        """The row that gives the longest end of this path, with or without the picture's suffix; for an upload that
        lost its folders, the row of its name."""
        without_folders = _spellings(path) if "/" not in path else ()
        self._met.update(f"/{name}" for name in without_folders)
        for ending in _endings(f"{given_in}/{path}"):
            if ending in self._by_path:
                self._met.add(ending)
                return self._by_path[ending]
        return next((self._by_name[name] for name in without_folders if name in self._by_name), None)

    def unmet(self) -> Iterator[LabelRow]:
        """Rows without a file."""
        for row in self.rows:
            path = row.file.casefold()
            asked = {path, f"{row.folder}/{path}", f"/{path.rsplit('/', 1)[-1]}" if "/" in path else path}
            if not asked & self._met:
                yield row

    def _add(self, rows: dict[str, LabelRow], key: str, row: LabelRow) -> None:
        known = rows.setdefault(key, row)
        if (known.label, known.patient, known.split) != (row.label, row.patient, row.split):
            twice = f"{self.label_file} lists it twice with different labels or patients."
            rows[key] = replace(known, problem=twice)


def label_pictures(
    pictures: Sequence[Entry],
    unusable: Sequence[str],
    tables: Sequence[Entry],
    labels: Labels,
    split: str | None,
    classes: Sequence[str],
    to_learn: bool = False,
) -> Labelling:
    """Label by the labels file given, else by the one among `tables`, else by folder; not at all if `labels` is False.

    `unusable` names files that are no pictures, which a labels file may list. Without `split`, rows of the training
    part are left out, or, `to_learn`, those of any other part."""
    if labels is False:
        return Labelling([LabelAndPatient(None, None)] * len(pictures), [])
    if labels is not None:
        origin = shown_name(name_of(labels) or "the labels file")
        unused = [Refused(table.name, f"Not used: the labels come from {origin}.") for table in tables]
        rows = LabelRows(_given_rows(labels, origin), origin)
        return _by_rows(pictures, unusable, rows, unused, split, classes, to_learn)
    found, refused = _found_rows(tables)
    if len(found) > 1:
        raise FileError(f"Several labels files: {', '.join(found)}. Keep one of them, or say which to use.")
    for origin, found_rows in found.items():
        return _by_rows(pictures, unusable, LabelRows(found_rows, origin), refused, split, classes, to_learn)
    if split is not None:
        raise FileError(
            f"Without a labels file there is no split '{split}'. Give a CSV with {SPLIT_COLUMNS} (--labels)."
        )
    by_folder = [LabelAndPatient(label_from_folders(one.path, one.given_in, classes), None) for one in pictures]
    notes = ("Labels are the names of the folders.",) if any(one.label for one in by_folder) else ()
    return Labelling(by_folder, refused, notes)


def _given_rows(labels: str | Path | FileLike, name: str) -> list[LabelRow]:
    try:
        return parse_labels(read_bytes(labels, MAX_BYTES + 1))
    except FileError as error:
        raise FileError(f"{name}: {error}") from error.__cause__


def _found_rows(tables: Sequence[Entry]) -> tuple[dict[str, list[LabelRow]], list[Refused]]:
    found, refused = {}, []
    for table in tables:
        data = b""
        try:
            data = table.read(MAX_BYTES + 1)
            found[table.name] = parse_labels(data)
        except FileError as error:
            if names_labels(data):  # a bad row must not make the folders' names the labels of all
                raise FileError(f"{table.name}: {error}") from error.__cause__
            refused.append(Refused(table.name, str(error)))
    return found, refused


def _by_rows(
    pictures: Sequence[Entry],
    unusable: Sequence[str],
    rows: LabelRows,
    unused: list[Refused],
    split: str | None,
    classes: Sequence[str],
    to_learn: bool,
) -> Labelling:
    if split is not None:
        _check_split(rows, split, to_learn)
    spelt = {name.casefold(): name for name in classes}

    def is_of_another_part(row: LabelRow) -> bool:
        return split is None and bool(row.split) and is_training(row.split) != to_learn

    def answer(picture: Entry, row: LabelRow | None) -> LabelAndPatient | str | None:
        if row is None:
            return f"{rows.label_file} does not list it, so it has no label."
        if split not in (None, row.split):
            return None
        if is_of_another_part(row):
            return f"{rows.label_file} says that it is of the part '{row.split}': {NOT_TO_LEARN if to_learn else SEEN}."
        if row.problem:
            return row.problem
        if (first := firsts[id(row)]) is not picture:
            return f"{rows.label_file} lists '{row.file}' once, which is {first.name}. Give the folder of each."
        return LabelAndPatient(spelt.get(str(row.label).casefold(), row.label), row.patient)

    found = [rows.row_of(one.path, one.given_in) for one in pictures]
    firsts = _one_for_each(pictures, found)
    answers = [answer(picture, row) for picture, row in zip(pictures, found, strict=True)]
    for path in unusable:
        rows.row_of(path)
    gone = f"{rows.label_file} lists it, but there is no such file."
    unmet = [
        Refused(row.file, gone) for row in rows.unmet() if split in (None, row.split) and not is_of_another_part(row)
    ]
    return Labelling(answers, unmet + unused, (f"Labels come from {rows.label_file}.",))


def _one_for_each(pictures: Sequence[Entry], found: Sequence[LabelRow | None]) -> dict[int, Entry]:
    """The one file of each row: the file whose whole path it gives, else the first by path. Files of the same name can
    neither take a row away nor make it two."""
    firsts: dict[int, tuple[bool, str, str, Entry]] = {}
    for one, row in zip(pictures, found, strict=True):
        if row is not None:
            rank = (not is_whole(row, one.path), one.path, one.name, one)
            firsts[id(row)] = min(firsts.get(id(row), rank), rank, key=lambda known: known[:3])
    return {row: first[3] for row, first in firsts.items()}


def _check_split(rows: LabelRows, split: str, to_learn: bool) -> None:
    if is_training(split) and not to_learn:
        raise FileError(f"{rows.label_file}: X-rays of the part '{split}' cannot be used: {SEEN}. Choose another part.")
    splits = {row.split for row in rows.rows if row.split}
    if split not in splits:
        hint = f"its splits: {', '.join(sorted(splits)[:10])}" if splits else f"it needs {SPLIT_COLUMNS}"
        raise FileError(f"{rows.label_file} has no row of split '{split}'; {hint}.")


def is_whole(row: LabelRow, path: str) -> bool:
    """Whether the row gives the file's whole path, with or without the picture's suffix."""
    return row.file.casefold() in _spellings(path)


def label_from_folders(path: str, given_in: str = "", classes: Sequence[str] = ()) -> str | None:
    """The nearest folder above that is named after a class, else the nearest inside the source whose name can be one.

    >>> label_from_folders("train/NORMAL/a.png"), label_from_folders("flu/patient 1/a.png", "ward", ["none", "flu"])
    ('NORMAL', 'flu')
    """
    known = {name.casefold(): name for name in classes}
    inside = path.split("/")[-2::-1]
    for folder in (*inside, *given_in.split("/")[::-1]):
        if folder.casefold() in known:
            return known[folder.casefold()]
    return next((folder for folder in inside if folder.lower() not in NOT_A_LABEL), None)


def _endings(path: str) -> Iterator[str]:
    """The path as a labels file may write it: whole, then with fewer and fewer folders; with suffix, then without."""
    spellings: Sequence[str] = _spellings(path)
    while True:
        yield from spellings
        if "/" not in spellings[0]:
            return
        spellings = [spelling.split("/", 1)[1] for spelling in spellings]


def _spellings(name: str) -> tuple[str, str]:
    """A name as a labels file may write it: with and without the picture's suffix."""
    return name.casefold(), SUFFIX.sub("", name.casefold())
