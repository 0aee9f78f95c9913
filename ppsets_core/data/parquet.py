"""Parquet's plain columns. What its footer says of sizes may be a lie, and a page of few bytes can stand for
gigabytes, so it is parsed apart."""

import io
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ppsets_core.data.arrays import MAX_UNPACKED
from ppsets_core.data.columns import LONGEST_TEXT, brief_name, check_cells, check_names, text_column
from ppsets_core.errors import FileError
from ppsets_core.files.column_names import RESERVED, TEXT, column_name
from ppsets_core.files.sandbox import parse_in_sandbox

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

THE_FILE = "the file"
DAMAGED = "the Parquet file is damaged or cut short; save it again."
OTHER_TYPE = "is neither of numbers nor of text; save it as text."
TOO_LARGE = f"it unpacks to over {MAX_UNPACKED // 1_000_000} MB; save fewer columns."


def read_parquet(data: bytes, source: str, texts: frozenset[str]) -> dict[str, Any]:
    """Every column of numbers or text, by name; others (dates, bytes) are passed over, nested ones refused."""
    import pyarrow as pa

    try:
        plain = parse_in_sandbox("ppsets_core.data.parquet:plain_columns", data)
    except FileError as error:
        raise FileError(f"{source}: {str(error).removeprefix(f'{THE_FILE}: ')}") from None
    table = pa.ipc.open_file(pa.BufferReader(plain)).read_all()
    return {name: _cells(table.column(name), name, source, texts) for name in table.column_names}


def _cells(column: "pa.ChunkedArray", name: str, source: str, texts: frozenset[str]) -> Any:
    from pyarrow import types

    if column_name(name) in texts:
        return text_column(name, _objects(column), source)
    if types.is_floating(column.type) or types.is_integer(column.type):
        return column.to_numpy() if len(column) else np.array([])
    return list(_objects(column))


def _objects(column: "pa.ChunkedArray") -> Iterator[Any]:
    for chunk in column.chunks:
        yield from chunk.to_pylist()


def plain_columns(data: bytes) -> bytes:
    """In a process apart: the columns that can be used, as Arrow writes them, with texts as long as they may be."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(io.BytesIO(data))
        _check_size(file)
        schema = file.schema_arrow
        wanted = [field.name for field in schema if _is_plain(field)]
        words = [name for name in wanted if is_text(schema.field(name).type)]
        table = pq.ParquetFile(io.BytesIO(data), read_dictionary=words).read(columns=wanted, use_threads=False)
        _check_texts(table, words)
        return _written(table)
    except FileError:
        raise
    except (pa.ArrowMemoryError, MemoryError):
        raise MemoryError from None
    except (pa.ArrowException, OSError, ValueError, TypeError, OverflowError):
        raise FileError(DAMAGED) from None


def _check_size(file: "pq.ParquetFile") -> None:
    """By what the file says of itself; if that is a lie, memory runs out here and nowhere else."""
    meta, names = file.metadata, file.schema_arrow.names
    groups = [meta.row_group(i) for i in range(meta.num_row_groups)]
    rows = max(meta.num_rows, sum(group.num_rows for group in groups))
    check_names([column_name(name) for name in names], THE_FILE)
    check_cells(rows * max(1, len(names)), THE_FILE)
    if sum(group.total_byte_size for group in groups) > MAX_UNPACKED:
        raise FileError(TOO_LARGE)


def _is_plain(field: "pa.Field") -> bool:
    from pyarrow import types

    if types.is_nested(field.type):
        raise FileError(f"the column '{brief_name(field.name)}' is nested; give one plain number or text per cell.")
    kind = field.type
    number = types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind) or types.is_boolean(kind)
    plain = number or is_text(kind) or is_blank_text(field)
    if not plain and column_name(field.name) in RESERVED:
        raise FileError(f"the column '{brief_name(field.name)}' {OTHER_TYPE}")
    return plain


def is_blank_text(field: "pa.Field") -> bool:
    """A column of text without a single entry, which Arrow gives no type: one entry more and it would be text."""
    from pyarrow import types

    return types.is_null(field.type) and column_name(field.name) in TEXT


def is_text(kind: "pa.DataType") -> bool:
    from pyarrow import types

    if types.is_dictionary(kind):
        kind = kind.value_type
    return types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)


def _check_texts(table: "pa.Table", names: list[str]) -> None:
    """It can refer to one long text in every row: texts are measured before they are repeated."""
    import pyarrow.compute as pc

    letters = 0
    for name in names:
        for chunk in table.column(name).chunks:
            words = getattr(chunk, "dictionary", chunk)
            lengths = pc.binary_length(words)
            if (pc.max(lengths).as_py() or 0) > LONGEST_TEXT:
                raise FileError(
                    f"the column '{brief_name(name)}' has an entry of more than {LONGEST_TEXT:,} letters; "
                    "shorten it or leave the column out."
                )
            indices = getattr(chunk, "indices", None)
            letters += pc.sum(lengths if indices is None else lengths.take(indices)).as_py() or 0
    if letters > MAX_UNPACKED:
        raise FileError(TOO_LARGE)


def _written(table: "pa.Table") -> bytes:
    import pyarrow as pa

    out = io.BytesIO()
    with pa.ipc.new_file(out, table.schema) as writer:
        writer.write_table(table)
    return out.getvalue()
