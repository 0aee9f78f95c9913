"""CSV and TSV: commas, semicolons or tabs, decimal points or commas, UTF-8, with or without a header for one column.

Read line by line into columns, so that memory goes with the numbers and letters in the file and nothing else."""

import csv
import io
from array import array
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

import numpy as np

from ppsets_core.data.columns import HANDFUL, Columns, Numbers, check_cells, check_names, number, text_column
from ppsets_core.errors import FileError
from ppsets_core.files.column_names import TEXT, column_name
from ppsets_core.validation import Location


def read_delimited(data: bytes, source: str, texts: frozenset[str] = TEXT) -> Columns:
    lines = _lines(data, source)
    blank, header = 0, ""
    for header in lines:
        if header != "\n":
            break
        blank += 1
    delimiter = next((mark for mark in "\t;," if mark in header), None)
    check_cells(max(data.count(b"\n"), data.count((delimiter or "\n").encode())), source)
    rest = chain([header], lines)
    if delimiter is None or not np.isnan(number(header)):
        return _single_column(rest, blank, source)
    return _several_columns(csv.reader(rest, delimiter=delimiter), blank, source, texts)


def _single_column(text: Iterable[str], blank: int, source: str) -> Columns:
    lines, values = array("q"), array("d")
    name = None
    for i, line in enumerate(text, blank + 1):
        if not (cell := line.strip().strip('"')):
            continue
        value = number(cell)
        if name is None:
            name = column_name(cell) if np.isnan(value) else "score"
            if np.isnan(value):
                continue
        check_cells(len(values), source)
        lines.append(i)
        values.append(value)
    place = Location(source, "line", rows=lines)
    return Columns(place, {name: np.array(values)} if name and name not in TEXT else {})


def _several_columns(reader: Any, blank: int, source: str, texts: frozenset[str]) -> Columns:
    rows = _rows(reader, blank, source)
    try:
        line, header = next(rows)
    except StopIteration:
        told = "it has separators but no records. Give a 'score' column with one number per line."
        raise FileError(f"{source}: {told}") from None
    names = [column_name(cell) for cell in header]
    numeric = [name for name in names if not np.isnan(number(name))]
    if any(not name.isdigit() for name in numeric) or (len(numeric) == len(names) and not are_class_numbers(names)):
        raise FileError(f"{source}, line {line}: the first line must name the columns, e.g. score or label.")
    check_names(names, source)
    lines, columns = array("q"), [_Texts(name, source) if name in texts else Numbers(name) for name in names]
    some: list[list[str]] = []
    for line, row in rows:
        lines.append(line)
        some.append(row)
        if len(some) == HANDFUL:
            _add(columns, some)
            check_cells(len(lines) * len(names), source)
    _add(columns, some)
    check_cells(len(lines) * len(names), source)
    read = {name: column.column() if len(lines) else np.array([]) for name, column in zip(names, columns, strict=True)}
    values = {name: column for name, column in read.items() if column is not None}
    return Columns(Location(source, "line", rows=lines), values)


class _Texts:
    """Cells as text, as they come."""

    def __init__(self, name: str, source: str) -> None:
        self.name, self.source = name, source
        self.parts: list[np.ndarray] = []

    def add(self, cells: Iterable[str]) -> None:
        self.parts.append(text_column(self.name, cells, self.source))

    def column(self) -> np.ndarray:
        return np.concatenate(self.parts)


def _add(columns: list[_Texts | Numbers], rows: list[list[str]]) -> None:
    for column, cells in zip(columns, zip(*rows, strict=True), strict=False):
        column.add(cells)
    rows.clear()


def _rows(reader: Any, blank: int, source: str) -> Iterator[tuple[int, list[str]]]:
    """Rows that are not empty, with the line that each ends on."""
    width = None
    try:
        for row in reader:
            if not any(cell.strip() for cell in row):
                continue
            width = width or len(row)
            if len(row) != width:
                raise FileError(
                    f"{source}, line {blank + reader.line_num}: it has {len(row)} cells where the header has {width}; "
                    "check for stray separators or use semicolons with decimal commas."
                )
            yield blank + reader.line_num, row
    except csv.Error:
        raise FileError(
            f"{source}, line {blank + reader.line_num}: it is no readable line of text; save as CSV UTF-8."
        ) from None


def are_class_numbers(names: list[str]) -> bool:
    return sorted(names) == sorted(str(i) for i in range(len(names)))


def _lines(data: bytes, source: str) -> Iterator[str]:
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        for line in io.TextIOWrapper(io.BytesIO(data), encoding):
            if "\0" in line:
                raise FileError(f"{source}: it is not a text file; give CSV, TSV, NPY, NPZ, Parquet or JSON.")
            yield line
    except UnicodeError:
        place = f", line {_first_undecodable(data)}" if encoding != "utf-16" else ""
        raise FileError(f"{source}{place}: the text is not UTF-8; save the file as 'CSV UTF-8'.") from None


def _first_undecodable(data: bytes) -> int:
    for i, line in enumerate(io.BytesIO(data), 1):
        try:
            line.decode()
        except UnicodeDecodeError:
            return i
    return 1
