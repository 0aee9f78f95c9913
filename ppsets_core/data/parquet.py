"""Parquet as Arrow: row groups of a file on this machine, or all of an upload, which is parsed in the sandbox because
its footer may lie about sizes and a page of few bytes can stand for gigabytes."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ppsets_core.data.columns import (
    MAX_UNPACKED,
    TOO_LARGE,
    RawBatch,
    check_cells,
    check_names,
    check_texts,
    check_type,
    is_text,
)
from ppsets_core.errors import FileError, InputError
from ppsets_core.files.names import column_name
from ppsets_core.files.sandbox import parse_in_sandbox
from ppsets_core.validation import Location

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

ROWS = 131_072  # a batch: its arrays stay in the processor's cache, and its overhead is small
DAMAGED = "the Parquet file is damaged or cut short; save it again."
UPLOAD = "the file"


def describe(path: Path, source: str) -> tuple[dict[str, "pa.DataType"], list[int]]:
    """The type of each usable column by name, and the number of rows of each row group."""
    with _refusing_damage(source):
        file = _open(path)
        groups = [file.metadata.row_group(i).num_rows for i in range(file.metadata.num_row_groups)]
        return {name: field.type for name, field in _fields(file, source).items()}, groups


def read_row_groups(
    path: Path, source: str, groups: range, first_row: int, wanted: tuple[str, ...]
) -> Iterator[RawBatch]:
    """The wanted columns of some row groups; `first_row` rows of the file come before them."""
    with _refusing_damage(source):
        file = _open(path)
        fields = _fields(file, source)
        raw = {fields[name].name: name for name in wanted}
        file = _open(path, [name for name in _with_dictionaries(file) if name in raw])
        for batch in file.iter_batches(ROWS, row_groups=list(groups), columns=list(raw), use_threads=False):
            rows = range(first_row + 1, first_row + batch.num_rows + 1)
            first_row += batch.num_rows
            yield RawBatch(Location(source, rows=rows), {known: batch.column(name) for name, known in raw.items()})


def _open(path: Path | io.BytesIO, dictionaries: list[str] | None = None) -> "pq.ParquetFile":
    import pyarrow.parquet as pq

    return pq.ParquetFile(path, read_dictionary=dictionaries, pre_buffer=False, buffer_size=1 << 20)


def _fields(file: "pq.ParquetFile", source: str) -> dict[str, "pa.Field"]:
    """The usable columns by the name each stands for."""
    named = [(column_name(field.name), field) for field in file.schema_arrow]
    fields = [(name, field) for name, field in named if check_type(name, field.type, source, ())]
    check_names([name for name, _ in fields], source)
    return dict(fields)


def _with_dictionaries(file: "pq.ParquetFile") -> list[str]:
    """Columns of text to read as distinct values and references; Arrow cannot do so where text is delta-encoded."""
    meta, schema = file.metadata, file.schema_arrow
    delta = {
        chunk.path_in_schema
        for group in range(meta.num_row_groups)
        for chunk in map(meta.row_group(group).column, range(meta.num_columns))
        if any(encoding.startswith("DELTA") for encoding in chunk.encodings)
    }
    return [field.name for field in schema if is_text(field.type) and field.name not in delta]


@contextmanager
def _refusing_damage(source: str) -> Iterator[None]:
    """Turn whatever pyarrow raises on a damaged file into one sentence."""
    import pyarrow as pa

    try:
        yield
    except InputError:
        raise
    except (FileNotFoundError, PermissionError) as error:
        raise FileError(f"{source}: it cannot be opened ({error.strerror}).") from None
    except (pa.ArrowException, OSError, ValueError, TypeError, OverflowError, MemoryError):
        raise FileError(f"{source}: {DAMAGED}") from None


def read_upload(data: bytes, source: str) -> Iterator[RawBatch]:
    """All columns of an upload, parsed in the sandbox."""
    import pyarrow as pa

    try:
        plain = parse_in_sandbox("ppsets_core.data.parquet:plain_columns", data)
    except FileError as error:
        raise FileError(f"{source}: {str(error).removeprefix(f'{UPLOAD}: ')}") from None
    row = 0
    for batch in pa.ipc.open_stream(pa.BufferReader(plain)):
        rows = range(row + 1, row + batch.num_rows + 1)
        row += batch.num_rows
        yield RawBatch(Location(source, rows=rows), dict(zip(map(column_name, batch.schema.names), batch, strict=True)))


def plain_columns(data: bytes) -> bytes:
    """In the sandbox: the usable columns in Arrow's stream format, with texts of bounded length."""
    import pyarrow as pa

    try:
        file = _open(io.BytesIO(data))
        _check_size(file)
        fields = [field.name for field in _fields(file, UPLOAD).values()]
        dictionaries = [name for name in _with_dictionaries(file) if name in fields]
        table = _open(io.BytesIO(data), dictionaries).read(columns=fields, use_threads=False)
        size = 0
        for batch in table.to_batches():
            size = check_texts(RawBatch(Location(UPLOAD), dict(zip(fields, batch, strict=True))), size)
        out = io.BytesIO()
        with pa.ipc.new_stream(out, table.schema) as writer:
            writer.write_table(table)
        return out.getvalue()
    except FileError:
        raise
    except (pa.ArrowMemoryError, MemoryError):
        raise MemoryError from None
    except (pa.ArrowException, OSError, ValueError, TypeError, OverflowError):
        raise FileError(DAMAGED) from None


def _check_size(file: "pq.ParquetFile") -> None:
    """By what the file says; if that is a lie, the sandbox runs out of memory and nothing else does."""
    meta, names = file.metadata, file.schema_arrow.names
    groups = [meta.row_group(i) for i in range(meta.num_row_groups)]
    rows = max(meta.num_rows, sum(group.num_rows for group in groups))
    check_names([column_name(name) for name in names], UPLOAD)
    check_cells(rows * max(1, len(names)), UPLOAD)
    if sum(group.total_byte_size for group in groups) > MAX_UNPACKED:
        raise FileError(TOO_LARGE)
