"""CSV and TSV: commas, semicolons or tabs, decimal points or commas, UTF-8, with or without a header for one column."""

import csv
import io

import numpy as np

from ppsets_core.errors import FileError
from ppsets_core.reading.columns import MAX_CELLS, TEXT, Columns, check_names, column_name, number, numbers_or_none
from ppsets_core.validation import Place


def read_delimited(data: bytes, source: str) -> Columns:
    text = _decode(data, source)
    header = text.lstrip("\r\n").split("\n", 1)[0]
    delimiter = next((mark for mark in "\t;," if mark in header), None)
    if delimiter is None or not np.isnan(number(header)):
        return _single_column(text, source)
    lines, rows = _rows(text, delimiter, source)
    if not rows:
        raise FileError(f"{source}: it has separators but no records. Give a 'score' column with a number a line.")
    names = [column_name(cell) for cell in rows[0]]
    if all(not np.isnan(number(name)) for name in names) and not _are_class_numbers(names):
        raise FileError(f"{source}, line {lines[0]}: the first line must name the columns, e.g. score or label.")
    check_names(names, source)
    columns = {name: _column(name, cells) for name, cells in zip(names, zip(*rows[1:], strict=True), strict=False)}
    columns = columns or {name: np.array([]) for name in names}
    values = {name: column for name, column in columns.items() if column is not None}
    return Columns(Place(source, "line", rows=lines[1:]), values)


def _single_column(text: str, source: str) -> Columns:
    lines = [(i, line.strip().strip('"')) for i, line in enumerate(text.splitlines(), 1) if line.strip()]
    has_header = int(bool(lines) and np.isnan(number(lines[0][1])))
    name = column_name(lines[0][1]) if has_header else "score"
    lines = lines[has_header:]
    values = np.array([number(cell) for _, cell in lines], dtype=np.float64)
    return Columns(Place(source, "line", rows=[i for i, _ in lines]), {name: values} if name not in TEXT else {})


def _rows(text: str, delimiter: str, source: str) -> tuple[list[int], list[list[str]]]:
    reader = csv.reader(io.StringIO(text), delimiter=delimiter)
    lines, rows, width = [], [], None
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
            if len(rows) * width > MAX_CELLS:
                raise FileError(f"{source}: more than {MAX_CELLS:,} cells; split the file.")
            lines.append(reader.line_num)
            rows.append(row)
    except csv.Error:
        raise FileError(
            f"{source}, line {reader.line_num}: it is no readable line of text; save as CSV UTF-8."
        ) from None
    return lines, rows


def _column(name: str, cells: tuple[str, ...]) -> np.ndarray | None:
    return np.array([cell.strip() for cell in cells]) if name in TEXT else numbers_or_none(list(cells))


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
