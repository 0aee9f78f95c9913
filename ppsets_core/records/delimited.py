"""CSV and TSV: commas, semicolons or tabs, decimal points or commas, UTF-8, with or without a header for one column."""

import csv
import io
from array import array

import numpy as np

from ppsets_core.errors import FileError
from ppsets_core.files.column_names import TEXT, column_name
from ppsets_core.records.columns import Columns, check_cells, check_names, number, numbers_or_none, text_column
from ppsets_core.validation import Place


def read_delimited(data: bytes, source: str, texts: frozenset[str] = TEXT) -> Columns:
    text = _decode(data, source)
    header = text.lstrip("\r\n").split("\n", 1)[0]
    delimiter = next((mark for mark in "\t;," if mark in header), None)
    check_cells(text.count("\n"), source)
    if delimiter is None or not np.isnan(number(header)):
        return _single_column(text, source)
    check_cells(text.count(delimiter), source)
    lines, rows = _rows(text, delimiter, source)
    if not rows:
        raise FileError(f"{source}: it has separators but no records. Give a 'score' column with one number per line.")
    names = [column_name(cell) for cell in rows[0]]
    numeric = [name for name in names if not np.isnan(number(name))]
    if any(not name.isdigit() for name in numeric) or (len(numeric) == len(names) and not _are_class_numbers(names)):
        raise FileError(f"{source}, line {lines[0]}: the first line must name the columns, e.g. score or label.")
    check_names(names, source)
    cells = zip(*rows[1:], strict=True)
    columns = {name: _column(name, column, source, texts) for name, column in zip(names, cells, strict=False)}
    columns = columns or {name: np.array([]) for name in names}
    values = {name: column for name, column in columns.items() if column is not None}
    return Columns(Place(source, "line", rows=lines[1:]), values)


def _single_column(text: str, source: str) -> Columns:
    lines, values = array("q"), array("d")
    name = None
    for i, line in enumerate(text.split("\n"), 1):
        if not (cell := line.strip().strip('"')):
            continue
        value = number(cell)
        if name is None:
            name = column_name(cell) if np.isnan(value) else "score"
            if np.isnan(value):
                continue
        lines.append(i)
        values.append(value)
    place = Place(source, "line", rows=lines)
    return Columns(place, {name: np.array(values)} if name and name not in TEXT else {})


def _rows(text: str, delimiter: str, source: str) -> tuple[array, list[list[str]]]:
    reader = csv.reader(io.StringIO(text), delimiter=delimiter)
    lines, width = array("q"), None
    rows: list[list[str]] = []
    try:
        for row in reader:
            if not any(cell.strip() for cell in row):
                continue
            width = width or len(row)
            if len(row) != width:
                raise FileError(
                    f"{source}, line {reader.line_num}: it has {len(row)} cells where the header has {width}; "
                    "check for stray separators or use semicolons with decimal commas."
                )
            check_cells(len(rows) * width, source)
            lines.append(reader.line_num)
            rows.append(row)
    except csv.Error:
        raise FileError(
            f"{source}, line {reader.line_num}: it is no readable line of text; save as CSV UTF-8."
        ) from None
    return lines, rows


def _column(name: str, cells: tuple[str, ...], source: str, texts: frozenset[str]) -> np.ndarray | None:
    return text_column(name, cells, source) if name in texts else numbers_or_none(cells)


def _are_class_numbers(names: list[str]) -> bool:
    return sorted(names) == sorted(str(i) for i in range(len(names)))


def _decode(data: bytes, source: str) -> str:
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise FileError(f"{source}, line {line}: the text is not UTF-8; save the file as 'CSV UTF-8'.") from None
    if "\0" in text:
        raise FileError(f"{source}: it is not a text file; give CSV, TSV, NPY, NPZ, Parquet or JSON.")
    return text.replace("\r\n", "\n").replace("\r", "\n")
