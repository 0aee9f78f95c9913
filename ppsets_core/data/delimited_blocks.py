"""CSV and TSV in blocks of rows, whatever the size of the file; each block is read as a small file is."""

import csv
from array import array
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import numpy as np

from ppsets_core.data.columns import Columns, check_names, number, numbers_or_none, text_column
from ppsets_core.data.delimited import are_class_numbers
from ppsets_core.errors import FileError
from ppsets_core.files.column_names import TEXT, column_name
from ppsets_core.validation import Location

ROWS = 65_536
UNREADABLE = "{source}, line {line}: it is no readable line of text; save as CSV UTF-8."
NOT_UTF8 = "{source}, line {line}: the text is not UTF-8; save the file as 'CSV UTF-8'."
NO_TEXT = "{source}: it is not a text file; give CSV, TSV, NPY, NPZ, Parquet or JSON."


def read_blocks(path: Path, source: str, texts: frozenset[str]) -> Iterator[Columns]:
    """The file's columns, block by block. Which columns hold numbers is what the first block says."""
    lines = _lines(path, source)
    start: list[str] = []
    for line in lines:
        start.append(line)
        if line.strip("\n"):
            break
    delimiter = delimiter_of(start[-1].rstrip("\n")) if start else None
    if delimiter is None:
        yield from _single_column(chain(start, lines), source)
    else:
        yield from _table(chain(start, lines), delimiter, source, texts)


def _lines(path: Path, source: str) -> Iterator[str]:
    with path.open("rb") as file:
        encoding = encoding_of(file.read(2))
    try:
        with path.open(encoding=encoding) as handle:
            for line in handle:
                if "\0" in line:
                    raise FileError(NO_TEXT.format(source=source))
                yield line
    except UnicodeDecodeError:
        raise FileError(NOT_UTF8.format(source=source, line=_first_unreadable(path))) from None


def _first_unreadable(path: Path) -> int:
    with path.open("rb") as file:
        for number_of_line, line in enumerate(file, 1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError:
                return number_of_line
    return 1


def _single_column(lines: Iterator[str], source: str) -> Iterator[Columns]:
    places, values, name = array("q"), array("d"), ""
    for place, line in enumerate(lines, 1):
        if not (cell := line.strip().strip('"')):
            continue
        value = number(cell)
        if not name:
            name = column_name(cell) if np.isnan(value) else "score"
            if name in TEXT:
                return
            if np.isnan(value):
                continue
        places.append(place)
        values.append(value)
        if len(values) == ROWS:
            yield Columns(Location(source, "line", rows=places), {name: np.array(values)})
            places, values = array("q"), array("d")
    if values:
        yield Columns(Location(source, "line", rows=places), {name: np.array(values)})


def _table(lines: Iterator[str], delimiter: str, source: str, texts: frozenset[str]) -> Iterator[Columns]:
    reader = csv.reader(lines, delimiter=delimiter)
    names: list[str] = []
    dropped: set[str] | None = None
    places: array = array("q")
    rows: list[list[str]] = []

    def block() -> Columns:
        nonlocal dropped
        values = {}
        for name, cells in zip(names, zip(*rows, strict=True), strict=True):
            if name in texts:
                values[name] = text_column(name, cells, source)
            elif dropped is not None and name not in dropped:
                values[name] = np.array([number(cell) for cell in cells], dtype=np.float64)
            elif dropped is None and (column := numbers_or_none(name, cells)) is not None:
                values[name] = column
        dropped = set(names) - values.keys() if dropped is None else dropped
        return Columns(Location(source, "line", rows=places), values)

    try:
        for row in reader:
            if not any(cell.strip() for cell in row):
                continue
            if not names:
                names = header_names(row, reader.line_num, source)
                continue
            check_width(row, len(names), reader.line_num, source)
            places.append(reader.line_num)
            rows.append(row)
            if len(rows) == ROWS:
                yield block()
                places, rows = array("q"), []
    except csv.Error:
        raise FileError(UNREADABLE.format(source=source, line=reader.line_num)) from None
    if rows:
        yield block()


def delimiter_of(header: str) -> str | None:
    """What separates the cells; None where a file has one column, or begins with a number and so has no header."""
    delimiter = next((mark for mark in "\t;," if mark in header), None)
    return None if delimiter is None or not np.isnan(number(header)) else delimiter


def header_names(cells: list[str], line: int, source: str) -> list[str]:
    names = [column_name(cell) for cell in cells]
    numeric = [name for name in names if not np.isnan(number(name))]
    if any(not name.isdigit() for name in numeric) or (len(numeric) == len(names) and not are_class_numbers(names)):
        raise FileError(f"{source}, line {line}: the first line must name the columns, e.g. score or label.")
    check_names(names, source)
    return names


def check_width(row: list[str], width: int, line: int, source: str) -> None:
    if len(row) != width:
        raise FileError(
            f"{source}, line {line}: it has {len(row)} cells where the header has {width}; "
            "check for stray separators or use semicolons with decimal commas."
        )


def encoding_of(data: bytes) -> str:
    return "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
