"""CSV and TSV as Arrow, block by block: commas, semicolons or tabs, UTF-8 or UTF-16, one column with or without a name.

Arrow parses blocks that are tidy. One that is not (quotes within quotes, a row of another width or of several lines) is
read row by row, which finds the line to name in a refusal.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from ppsets_core.data.columns import RawBatch, check_cells, check_names, number
from ppsets_core.errors import FileError
from ppsets_core.files.names import column_name
from ppsets_core.validation import Location

if TYPE_CHECKING:
    import pyarrow as pa

BLOCK = 1 << 22
MAX_LINE = 1 << 26


@dataclass(frozen=True)
class _Header:
    """How to read the records of a file; `delimiter` is None where it has one column."""

    source: str
    delimiter: str | None
    names: list[str]


def read_delimited(file: BinaryIO, source: str, max_cells: int | None = None) -> Iterator[RawBatch]:
    """The records of a file, in batches; at least one batch, which may be empty."""
    blocks = _blocks(file, source)
    line, block = 0, ""
    for block in blocks:
        line += len(block) - len(block.lstrip("\n"))
        if block := block.lstrip("\n"):
            break
    header, line, rest = _read_header(block, line, source)
    yield _batch(header, range(0), [[] for _ in header.names])
    cells = 0
    for block in chain([rest], blocks):
        if max_cells is not None:
            cells += max(block.count("\n"), block.count(header.delimiter or "\n"))
            check_cells(cells, source, max_cells)
        yield _tidy_batch(header, block, line) or _batch_row_by_row(header, block, line)
        line += block.count("\n")


def _blocks(file: BinaryIO, source: str) -> Iterator[str]:
    """Text in whole lines, each of which ends in a line feed whatever the file has."""
    encoding = "utf-16" if file.read(2) in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    file.seek(0)
    rest = ""
    try:
        text = io.TextIOWrapper(file, encoding)
        while block := text.read(BLOCK):
            if "\0" in block:
                raise FileError(f"{source}: it is not a text file; give CSV, TSV, NPY, NPZ, Parquet or JSON.")
            end = block.rfind("\n") + 1 if len(block) == BLOCK else len(block)
            if not end and len(rest) > MAX_LINE:
                raise FileError(f"{source}: it has a line of more than {MAX_LINE >> 20} MB; save as CSV UTF-8.")
            if end:
                yield rest + block[:end]
            rest = block[end:] if end else rest + block
        text.detach()
    except UnicodeError:
        line = f", line {_first_undecodable(file)}" if encoding != "utf-16" else ""
        raise FileError(f"{source}{line}: the text is not UTF-8; save the file as 'CSV UTF-8'.") from None
    if rest:
        yield rest


def _first_undecodable(file: BinaryIO) -> int:
    file.seek(0)
    for number_of_line, line in enumerate(file, 1):
        try:
            line.decode()
        except UnicodeDecodeError:
            return number_of_line
    return 1


def _read_header(block: str, line: int, source: str) -> tuple[_Header, int, str]:
    """The header, the number of its last line, and the rest of the block."""
    first = block.partition("\n")[0]
    delimiter = next((mark for mark in "\t;," if mark in first), None)
    if delimiter is None or not np.isnan(number(first)):
        cell = first.strip().strip('"')
        if not cell or not np.isnan(number(cell)):
            return _Header(source, None, ["score"]), line, block
        return _Header(source, None, [column_name(cell)]), line + 1, block.partition("\n")[2]
    lines = io.StringIO(block)
    row, last = next(_rows(csv.reader(lines, delimiter=delimiter), line, source), ([], line))
    if not row:
        missing = "it has separators but no records. Give a 'score' column with one number per line."
        raise FileError(f"{source}: {missing}")
    return _Header(source, delimiter, _names(row, last, source)), last, lines.read()


def _names(cells: list[str], line: int, source: str) -> list[str]:
    names = [column_name(cell) for cell in cells]
    numeric = [name for name in names if not np.isnan(number(name))]
    are_class_numbers = sorted(names) == sorted(str(i) for i in range(len(names)))
    if any(not name.isdigit() for name in numeric) or (len(numeric) == len(names) and not are_class_numbers):
        raise FileError(f"{source}, line {line}: the first line must name the columns, e.g. score or label.")
    check_names(names, source)
    return names


def _batch(header: _Header, lines: "range | np.ndarray", columns: Iterable) -> RawBatch:
    import pyarrow as pa

    names = (name or f"unnamed: {place}" for place, name in enumerate(header.names))
    arrays = {name: pa.array(cells, pa.string()) for name, cells in zip(names, columns, strict=True)}
    return RawBatch(Location(header.source, "line", rows=lines), arrays, typed=False)


def _tidy_batch(header: _Header, block: str, line: int) -> RawBatch | None:
    """A block's records as Arrow parses them; None where it would not see what a spreadsheet sees."""
    cells = _single_column(block) if header.delimiter is None else _several_columns(header, block)
    if cells is None:
        return None
    lines = _line_numbers(block, line)
    if len(lines) != len(cells[0]):
        return None
    return _without_blank_rows(_batch(header, lines, cells))


def _single_column(block: str) -> "list[pa.Array]":
    import pyarrow as pa
    import pyarrow.compute as pc

    cells = pa.array([line for line in block.split("\n") if line], pa.string())
    cells = pc.utf8_trim(pc.utf8_trim_whitespace(cells), '"')
    return [pc.if_else(pc.equal(cells, ""), None, cells)]


def _several_columns(header: _Header, block: str) -> "list[pa.Array] | None":
    import pyarrow as pa
    import pyarrow.csv as pacsv

    if not _has_tidy_quotes(block, header.delimiter or ""):
        return None
    data = block.encode()
    places = [str(place) for place in range(len(header.names))]
    if not data.strip(b"\n"):
        return [pa.array([], pa.string()) for _ in places]
    try:
        table = pacsv.read_csv(
            pa.BufferReader(data),
            pacsv.ReadOptions(use_threads=False, column_names=places, block_size=len(data) + 1),
            pacsv.ParseOptions(delimiter=header.delimiter),
            pacsv.ConvertOptions(
                check_utf8=False,
                column_types=dict.fromkeys(places, pa.string()),
                null_values=[""],
                strings_can_be_null=True,
            ),
        )
    except pa.ArrowInvalid:
        return None
    return [column.combine_chunks() for column in table.columns]


def _has_tidy_quotes(block: str, delimiter: str) -> bool:
    """Whether quotes stand around whole cells only, with neither quotes nor line breaks within."""
    if '"' not in block:
        return True
    around = f"[^{re.escape(delimiter)}\n]"
    return '"' not in re.sub(f'(?<!{around})"[^"\n]*"(?!{around})', "", block)


def _line_numbers(block: str, line: int) -> "range | np.ndarray":
    """The line of each record, where no record takes several."""
    if not block.startswith("\n") and "\n\n" not in block:
        return range(line + 1, line + 1 + block.count("\n") + (not block.endswith("\n") and block != ""))
    return np.array([n for n, text in enumerate(block.split("\n"), line + 1) if text], dtype=np.int64)


def _without_blank_rows(batch: RawBatch) -> RawBatch:
    """Leave out rows without any entry, as spreadsheets write them below a table."""
    import pyarrow.compute as pc

    arrays = list(batch.arrays.values())
    filled = np.zeros(len(arrays[0]), dtype=bool)
    for array in arrays:
        found = pc.not_equal(pc.utf8_trim_whitespace(array), "").fill_null(False)
        filled |= found.to_numpy(zero_copy_only=False)
        if filled.all():
            return batch
    kept = np.flatnonzero(filled)
    location = Location(batch.location.source, "line", rows=np.asarray(batch.location.rows)[kept])
    return RawBatch(location, {name: array.take(kept) for name, array in batch.arrays.items()}, typed=False)


def _batch_row_by_row(header: _Header, block: str, line: int) -> RawBatch:
    reader = csv.reader(io.StringIO(block), delimiter=header.delimiter or "\0")
    rows = list(_rows(reader, line, header.source, len(header.names)))
    columns = zip(*([cell or None for cell in cells] for cells, _ in rows), strict=True)
    return _batch(header, np.array([last for _, last in rows]), list(columns) or [[] for _ in header.names])


def _rows(reader: Any, before: int, source: str, width: int | None = None) -> Iterator[tuple[list[str], int]]:
    """Rows that are not empty, each with the line it ends on."""
    try:
        for row in reader:
            line = before + reader.line_num
            if not any(cell.strip() for cell in row):
                continue
            if width and any("\n" in cell for cell in row):  # one open quote would take the records below away
                raise FileError(
                    f"{source}, line {line}: a cell goes on beyond its line; write each record on one line."
                )
            if len(row) != (width or len(row)):
                raise FileError(
                    f"{source}, line {line}: it has {len(row)} cells where the header has {width}; "
                    "check for stray separators or use semicolons with decimal commas."
                )
            yield row, line
    except csv.Error:
        line = before + reader.line_num
        raise FileError(f"{source}, line {line}: it is no readable line of text; save as CSV UTF-8.") from None
