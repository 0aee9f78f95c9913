"""A labels file as rows: `file,label[,patient]`, or CoronaHack's metadata."""

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from ppsets_core.errors import FileError
from ppsets_core.files.column_names import column_name
from ppsets_core.files.names import shown_name
from ppsets_core.xrays import coronahack

MAX_BYTES = 50_000_000
MAX_ROWS = 1_000_000
NEEDED = "The first line must name the columns file and label (and, if known, patient)."


@dataclass(frozen=True)
class LabelRow:
    """What a labels file says of one X-ray: `folder` tells namesakes apart, `split` names the part of the data it
    belongs to, `problem` says why there is no label."""

    file: str
    label: str | None
    patient: str | None = None
    folder: str | None = None
    split: str | None = None
    problem: str = ""


def parse_labels(data: bytes) -> list[LabelRow]:
    """The rows of a labels file. Raises FileError, without the file's name, if it is none."""
    if len(data) > MAX_BYTES:
        raise FileError(f"A labels file larger than {MAX_BYTES // 10**6} MB cannot be right.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError("The labels file is not UTF-8 text. Save it as 'CSV UTF-8'.") from error
    try:
        rows = list(islice(_rows(text), MAX_ROWS + 1))
    except csv.Error as error:
        raise FileError(f"The labels file cannot be read as CSV. {NEEDED}") from error
    if len(rows) > MAX_ROWS:
        raise FileError(f"A labels file of more than {MAX_ROWS:,} rows cannot be right.")
    return rows


def _rows(text: str) -> Iterator[LabelRow]:
    head = text.partition("\n")[0]
    delimiter = max(",;\t", key=head.count)
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, restval="")
    columns = [column.strip() for column in reader.fieldnames or []]
    if set(coronahack.COLUMNS) <= set(columns):
        reader.fieldnames = columns
        yield from map(_coronahack_row, reader)
        return
    reader.fieldnames = [column_name(column).lower() for column in columns]
    if not {"file", "label"} <= set(reader.fieldnames):
        raise FileError(f"Not a labels file. {NEEDED}")
    for row in reader:
        label = row["label"].strip()
        if not label and not row["file"].strip():
            continue
        yield LabelRow(
            file=_normal(row["file"]),
            label=shown_name(label) if label else None,
            patient=row.get("patient", "").strip() or None,
            split=row.get("split", "").strip() or None,
            problem="" if label else f"Line {reader.line_num} of the labels file gives it no label.",
        )


def _coronahack_row(row: dict[str, str]) -> LabelRow:
    name, label = _normal(row[coronahack.NAME]), coronahack.label_of(row)
    cause = shown_name(row[coronahack.CAUSE])
    return LabelRow(
        file=name,
        label=label,
        patient=coronahack.patient_of(name),
        folder=row.get(coronahack.FOLDER, "").strip().lower() or None,
        problem="" if label else f"Its pneumonia is neither bacterial nor viral ({cause}).",
    )


def _normal(file: str) -> str:
    """As `list_source` names files, so that the two can be compared."""
    return shown_name(file.replace("\\", "/")).removeprefix("./")
