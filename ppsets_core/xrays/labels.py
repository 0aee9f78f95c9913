"""The label and patient of every picture of a folder: by a labels file, or by the folders' names.

Each goes by its own path or row, never by other files: one X-ray added, removed or moved, or one row changed, changes
one record. A labels file that leaves a choice is refused as a whole, by the names of files and the paths in its rows
alone."""

import re
from collections import defaultdict
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple

from ppsets_core.errors import FileError
from ppsets_core.files import Refused
from ppsets_core.files.handles import FileLike, name_of, read_bytes
from ppsets_core.files.names import SEEN, is_training, shown_name
from ppsets_core.xrays.label_file import MAX_BYTES, LabelRow, names_labels, parse_labels
from ppsets_core.xrays.listing import Entry

SUFFIX = re.compile(r"\.(png|jpe?g|tiff?|dcm|dicom)$")
NOT_A_LABEL = {
    *("train", "test", "val", "valid", "validation", "calibration"),
    *("data", "image", "images", "img", "pictures", "xray", "xrays", "x-ray", "x-rays"),
}
NOT_TO_LEARN = "a model that learns from them can neither be calibrated nor checked with them"
ONCE = "List each X-ray once, with the folders that the files have. No row was used."
SPLIT_COLUMNS = "the columns file, label and split"
Labels = str | Path | FileLike | Literal[False] | None


class LabelAndPatient(NamedTuple):
    """`patient` is None if no column names patients, '' if the row is blank."""

    label: str | None
    patient: str | None


@dataclass(frozen=True)
class Labelling:
    """For each file its label and patient, or why it is not used (None: of another split); what else was refused
    (rows without a file, unused tables); and sentences on where the labels come from."""

    answers: Sequence[LabelAndPatient | str | None]
    refused: list[Refused]
    notes: tuple[str, ...] = ()


class LabelRows:
    """A labels file's rows, found by path.

    A row belongs to an X-ray if its path is the end of the X-ray's or, for an upload without folders, ends in the
    X-ray's name. If two rows could belong to one X-ray, or two X-rays to one row, the whole file is refused. The one
    exception: `1.png` and `ward/1.png` may both be listed if both are there."""

    def __init__(self, rows: Sequence[LabelRow], label_file: str) -> None:
        self.label_file = label_file
        self.rows = rows
        self._by_path: dict[str, list[LabelRow]] = defaultdict(list)
        self._by_name: dict[str, list[LabelRow]] = defaultdict(list)
        for row in rows:
            path = row.file.casefold()
            self._by_path[path].append(row)
            self._by_name[path.rsplit("/", 1)[-1]].append(row)

    def match(self, entries: Sequence[Entry]) -> list[LabelRow | None]:
        """Each file's row; FileError where a file could have two, or a row two files."""
        files: dict[int, Entry] = {}
        whole = {row.line for entry in entries for row in self._whole(entry)}
        found = [self._row_of(entry, whole) for entry in entries]
        for entry, row in zip(entries, found, strict=True):
            if row is not None and (other := files.setdefault(row.line, entry)) is not entry:
                raise FileError(
                    f"{self.label_file}, line {row.line}: '{row.file}' could be {other.name} or {entry.name}. {ONCE}"
                )
        return found

    def _whole(self, entry: Entry) -> list[LabelRow]:
        """Rows of the whole path within the folder or zip that was given."""
        return [row for path in _spellings(entry.path) for row in self._by_path.get(path, ())]

    def _row_of(self, entry: Entry, whole: Container[int]) -> LabelRow | None:
        path = f"{entry.given_in}/{entry.path}"
        if "/" in path[1:]:
            rows = [row for ending in _endings(path) for row in self._by_path.get(ending, ())]
        else:
            rows = [row for name in _spellings(entry.path) for row in self._by_name.get(name, ())]
        if own := self._whole(entry):
            rows = own + [row for row in rows if row.line not in whole]
        rows = [row for row in rows if row.may_be_in(path)]
        if len(rows) > 1:
            first, second, *_ = sorted(rows, key=lambda row: row.line)
            raise FileError(
                f"{self.label_file}, lines {first.line} and {second.line}: both could be {entry.name}. {ONCE}"
            )
        return rows[0] if rows else None


def label_files(
    files: Sequence[Entry],
    tables: Sequence[Entry],
    labels: Labels,
    split: str | None,
    classes: Sequence[str],
    to_learn: bool = False,
) -> Labelling:
    """Label by the labels file given, else by the one among `tables`, else by folder; not at all if `labels` is False.

    Files with a problem keep it, but a labels file may list them. Without `split`, rows of the training part are left
    out, or, `to_learn`, those of any other part."""
    if labels is False:
        return Labelling([one.problem or LabelAndPatient(None, None) for one in files], [])
    rows, unused = _find_rows(tables, labels)
    if rows is not None:
        return _by_rows(files, rows, unused, split, classes, to_learn)
    if split is not None:
        raise FileError(
            f"Without a labels file there is no split '{split}'. Give a CSV with {SPLIT_COLUMNS} (--labels)."
        )
    by_folder = [None if one.problem else label_from_folders(one.path, one.given_in, classes) for one in files]
    notes = ("Labels are the names of the folders.",) if any(by_folder) else ()
    answers = [one.problem or LabelAndPatient(label, None) for one, label in zip(files, by_folder, strict=True)]
    return Labelling(answers, unused, notes)


def _find_rows(tables: Sequence[Entry], labels: str | Path | FileLike | None) -> tuple[LabelRows | None, list[Refused]]:
    """The labels file given or the one among `tables`, if there is one; and the tables that are not used."""
    found, unused = [], []
    if labels is not None:
        origin = shown_name(name_of(labels) or "the labels file")
        unused = [Refused(table.name, f"Not used: the labels come from {origin}.") for table in tables]
        tables = [Entry(origin, partial(read_bytes, labels))]
    for table in tables:
        data = b""
        try:
            data = table.read(MAX_BYTES + 1)
            found.append(LabelRows(parse_labels(data), table.name))
        except FileError as error:
            if labels is not None or names_labels(data):  # a bad row must not make the folders' names the labels of all
                raise FileError(f"{table.name}: {error}") from error.__cause__
            unused.append(Refused(table.name, str(error)))
    if len(found) > 1:
        names = ", ".join(rows.label_file for rows in found)
        raise FileError(f"Several labels files: {names}. Keep one of them, or say which to use.")
    return (found[0] if found else None), unused


def _by_rows(
    files: Sequence[Entry],
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

    def answer(row: LabelRow | None) -> LabelAndPatient | str | None:
        if row is None:
            return f"{rows.label_file} does not list it, so it has no label."
        if split not in (None, row.split):
            return None
        if is_of_another_part(row):
            return f"{rows.label_file} says that it is of the part '{row.split}': {NOT_TO_LEARN if to_learn else SEEN}."
        if row.problem:
            return row.problem
        return LabelAndPatient(spelt.get(str(row.label).casefold(), row.label), row.patient)

    found = rows.match(files)
    answers = [one.problem or answer(row) for one, row in zip(files, found, strict=True)]
    met = {row.line for row in found if row is not None}
    gone = f"{rows.label_file} lists it, but there is no such file."
    unmet = [
        Refused(row.file, gone)
        for row in rows.rows
        if row.line not in met and split in (None, row.split) and not is_of_another_part(row)
    ]
    return Labelling(answers, unmet + unused, (f"Labels come from {rows.label_file}.",))


def _check_split(rows: LabelRows, split: str, to_learn: bool) -> None:
    if is_training(split) and not to_learn:
        raise FileError(f"{rows.label_file}: X-rays of the part '{split}' cannot be used: {SEEN}. Choose another part.")
    splits = {row.split for row in rows.rows if row.split}
    if split not in splits:
        hint = f"its splits: {', '.join(sorted(splits)[:10])}" if splits else f"it needs {SPLIT_COLUMNS}"
        raise FileError(f"{rows.label_file} has no row of split '{split}'; {hint}.")


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
    """The path as a labels file may write it: whole, then with fewer and fewer folders."""
    for spelling in _spellings(path):
        folders = spelling.split("/")
        yield from ("/".join(folders[start:]) for start in range(len(folders)))


def _spellings(path: str) -> set[str]:
    """A path as a labels file may write it: with and without the picture's suffix."""
    return {path.casefold(), SUFFIX.sub("", path.casefold())}
