"""A labels file as rows: `file,label[,patient]`, or CoronaHack's metadata."""

import csv
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import PurePosixPath
from typing import Any

from ppsets_core.errors import FileError
from ppsets_core.files.names import MAX_TEXT, column_name, is_too_long, shown_name

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
