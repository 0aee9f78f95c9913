"""The label and patient of every picture of a folder: by a labels file, or by the folders' names.

Each goes by its own path or row, never by other files: one X-ray added, removed or moved, or one row changed, changes
one record. A labels file that leaves a choice is refused as a whole, by the names of files and the paths in its rows
alone."""

import csv
import io
import re
from collections import defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any, Literal, NamedTuple

from ppsets_core.errors import FileError
from ppsets_core.files import Refused
from ppsets_core.files.handles import FileLike, name_of, read_bytes
from ppsets_core.files.names import MAX_TEXT, SEEN, column_name, is_too_long, is_training, shown_name
from ppsets_core.xrays.listing import Entry

MAX_BYTES = 50_000_000
MAX_ROWS = 1_000_000
LONGEST_HEAD = 10_000
MEANT = ("file", "label", "patient", "split")
NAME, LABEL, CAUSE, FOLDER = "X_ray_image_name", "Label", "Label_1_Virus_category", "Dataset_type"
FOLDERS = {"train", "test"}
CORONAHACK = {NAME, LABEL, CAUSE}
CAUSES = {"bacteria": "bacterial-pneumonia", "virus": "viral-pneumonia"}
PATIENT = re.compile(r"person\d+(?=_)|(NORMAL2-)?IM-\d+(?=-)")
SAME_PATIENT = re.compile(r"(-day\d+|(-l)?-[a-d])$")
NEEDED = "The first line must name the columns file and label (and, if known, patient)."
SUFFIX = re.compile(r"\.(png|jpe?g|tiff?|dcm|dicom)$")
NOT_A_LABEL = {
    *("train", "test", "val", "valid", "validation", "calibration"),
    *("data", "image", "images", "img", "pictures", "xray", "xrays", "x-ray", "x-rays"),
}
NOT_TO_LEARN = "a model that learns from them can neither be calibrated nor checked with them"
ONCE = "List each X-ray once, with the folders that the files have. No row was used."
SPLIT_COLUMNS = "the columns file, label and split"
Labels = str | Path | FileLike | Literal[False] | None


# A labels file as rows: `file,label[,patient]`, or CoronaHack's metadata


@dataclass(frozen=True, slots=True)
class LabelRow:
    """One X-ray of a labels file, by the number of its line. `patient` is '' if its cell is blank, None without such a
    column; `folder` is CoronaHack's; `split` names the part of the data; `problem` says why it cannot be used."""

    line: int
    file: str
    label: str | None
    patient: str | None = None
    folder: str | None = None
    split: str | None = None
    problem: str = ""

    def may_be_in(self, path: str) -> bool:
        """False for a file in CoronaHack's other folder."""
        parent = path.casefold().split("/")[-2:-1]
        return self.folder is None or parent == [self.folder] or not FOLDERS.issuperset(parent)


def parse_labels(data: bytes) -> list[LabelRow]:
    """The rows of a labels file; FileError, without the file's name, if it is none."""
    if len(data) > MAX_BYTES:
        raise FileError(f"A labels file larger than {MAX_BYTES // 10**6} MB cannot be right.")
    try:
        rows = list(islice(_rows(io.TextIOWrapper(io.BytesIO(data), encoding="utf-8-sig", newline="")), MAX_ROWS + 1))
    except UnicodeDecodeError as error:
        raise FileError("The labels file is not UTF-8 text. Save it as 'CSV UTF-8'.") from error
    except csv.Error as error:
        raise FileError(f"The labels file cannot be read as CSV. {NEEDED}") from error
    if len(rows) > MAX_ROWS:
        raise FileError(f"A labels file of more than {MAX_ROWS:,} rows cannot be right.")
    return rows


def names_labels(data: bytes) -> bool:
    """Whether the first line is a labels file's."""
    head = data[:LONGEST_HEAD].removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace").splitlines()[:1]
    columns = [cell.strip().strip('"') for line in head for cell in line.split(_delimiter(line))]
    return set(columns) >= CORONAHACK or {"file", "label"} <= set(map(_plain, columns))


def _delimiter(head: str) -> str:
    return max(",;\t", key=head.count)


def _plain(column: str) -> str:
    return column_name(column).lower()


def _rows(text: io.TextIOWrapper) -> Iterator[LabelRow]:
    head = text.readline(LONGEST_HEAD)
    text.seek(0)
    reader = csv.DictReader(text, delimiter=_delimiter(head), restval="")
    columns = [column.strip() for column in reader.fieldnames or []]
    if set(columns) >= CORONAHACK:
        reader.fieldnames = columns
        yield from (_coronahack_row(row, line) for row, line in _on_one_line(reader))
        return
    reader.fieldnames = list(map(_plain, columns))
    if not {"file", "label"} <= set(reader.fieldnames):
        raise FileError(f"Not a labels file. {NEEDED}")
    if twice := [name for name in MEANT if reader.fieldnames.count(name) > 1]:
        raise FileError(f"The labels file has several columns for the {twice[0]}. Keep one of them.")
    has_patients = "patient" in reader.fieldnames
    for row, line in _on_one_line(reader):
        label = row["label"].strip()
        if not label and not row["file"].strip():
            continue
        patient = row["patient"].strip() if has_patients else None
        yield LabelRow(
            line=line,
            file=_normal(row["file"]),
            label=shown_name(label) if label else None,
            patient=patient and ("" if is_too_long(patient) else patient),
            split=row.get("split", "").strip() or None,
            problem=_problem(row, label, patient, line),
        )


def _on_one_line(reader: csv.DictReader) -> Iterator[tuple[dict[str, Any], int]]:
    """Rows with their lines. A cell of several lines is refused: one open quote would take the rows below away."""
    for row in reader:
        cells = (cell for known in row.values() for cell in (known if isinstance(known, list) else [known]))
        if any("\n" in cell or "\r" in cell for cell in cells):
            raise FileError(
                f"A cell goes on beyond its line, up to line {reader.line_num}. Write each row on one line."
            )
        yield row, reader.line_num


def _problem(row: Mapping[Any, Any], label: str, patient: str | None, line: int) -> str:
    if any(row.get(None, ())):
        return f"Line {line} of the labels file has more cells than columns; quote a cell that has the separator in it."
    if not label:
        return f"Line {line} of the labels file gives it no label."
    if patient and is_too_long(patient):
        return f"Line {line} of the labels file names a patient in more than {MAX_TEXT:,} letters."
    return ""


def _coronahack_row(row: dict[str, str], line: int) -> LabelRow:
    """A row of CoronaHack's metadata; the few pneumonias of another cause have no label, as in the paper."""
    name, cause = _normal(row[NAME]), row[CAUSE]
    label = "normal" if row[LABEL].strip().lower() == "normal" else CAUSES.get(cause.strip().lower())
    return LabelRow(
        line=line,
        file=name,
        label=label,
        patient=coronahack_patient(name),
        folder=row.get(FOLDER, "").strip().lower() or None,
        problem="" if label else f"Its pneumonia is neither bacterial nor viral ({shown_name(cause)}).",
    )


def coronahack_patient(file_name: str) -> str:
    """The patient in CoronaHack's file names; the panels and days of one published figure are one patient.

    >>> [coronahack_patient(name) for name in ("person12_virus_34.jpeg", "NORMAL2-IM-0395-0001.jpeg", "kjr-g1-l-a.jpg")]
    ['person12', 'NORMAL2-IM-0395', 'kjr-g1']
    """
    stem = PurePosixPath(file_name).stem
    return found[0] if (found := PATIENT.match(stem)) else SAME_PATIENT.sub("", stem)


def _normal(file: str) -> str:
    """As `list_source` names files, so that the two can be compared."""
    return shown_name(file.replace("\\", "/")).removeprefix("./")


# The row or folder of each picture


class LabelAndPatient(NamedTuple):
    """`patient` is None if no column names patients, '' if the row is blank."""

    label: str | None
    patient: str | None


Labelling = tuple[Sequence[LabelAndPatient | str | None], list[Refused], tuple[str, ...]]
"""For each file its label and patient, or why it is not used (None: of another split); what else was refused (rows
without a file, unused tables); and sentences on where the labels come from."""


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
        return [one.problem or LabelAndPatient(None, None) for one in files], [], ()
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
    return answers, unused, notes


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
    return answers, unmet + unused, (f"Labels come from {rows.label_file}.",)


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
