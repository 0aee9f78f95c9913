"""Parquet's plain columns. It can refer to one long text in every row: texts are measured before they are repeated."""

import io
from typing import TYPE_CHECKING

from ppsets_core.errors import FileError
from ppsets_core.files.column_names import column_name
from ppsets_core.records.arrays import MAX_UNPACKED
from ppsets_core.records.columns import LONGEST_TEXT, brief_name, check_cells, check_names

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq


def read_parquet(data: bytes, source: str) -> dict[str, list]:
    """Every column of numbers or text, by name; others (dates, bytes) are passed over, nested ones refused."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(io.BytesIO(data))
        _check_size(file, source)
        schema = file.schema_arrow
        wanted = [field.name for field in schema if _is_plain(field, source)]
        texts = [name for name in wanted if _is_text(schema.field(name).type)]
        table = pq.ParquetFile(io.BytesIO(data), read_dictionary=texts).read(columns=wanted, use_threads=False)
        return {name: _cells(table.column(name), name, source) for name in wanted}
    except FileError:
        raise
    except (pa.ArrowException, OSError, ValueError, TypeError, OverflowError, MemoryError):
        raise FileError(f"{source}: the Parquet file is damaged or cut short; save it again.") from None


def _check_size(file: "pq.ParquetFile", source: str) -> None:
    """By what the file says of itself."""
    meta, names = file.metadata, file.schema_arrow.names
    groups = [meta.row_group(i) for i in range(meta.num_row_groups)]
    rows = max(meta.num_rows, sum(group.num_rows for group in groups))
    check_names([column_name(name) for name in names], source)
    check_cells(rows * max(1, len(names)), source)
    if sum(group.total_byte_size for group in groups) > MAX_UNPACKED:
        raise FileError(f"{source}: it unpacks to over {MAX_UNPACKED // 1_000_000} MB; save fewer columns.")


def _is_plain(field: "pa.Field", source: str) -> bool:
    from pyarrow import types

    if types.is_nested(field.type):
        name = brief_name(field.name)
        raise FileError(f"{source}: the column '{name}' is nested; give one plain number or text per cell.")
    kind = field.type
    number = types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind) or types.is_boolean(kind)
    return number or _is_text(kind)


def _is_text(kind: "pa.DataType") -> bool:
    from pyarrow import types

    if types.is_dictionary(kind):
        kind = kind.value_type
    return types.is_string(kind) or types.is_large_string(kind)


def _cells(column: "pa.ChunkedArray", name: str, source: str) -> list:
    import pyarrow as pa
    import pyarrow.compute as pc

    for chunk in column.chunks:
        if isinstance(chunk, pa.DictionaryArray):
            longest = pc.max(pc.binary_length(chunk.dictionary)).as_py() or 0
            if longest > LONGEST_TEXT:
                raise FileError(
                    f"{source}: the column '{brief_name(name)}' has an entry of more than {LONGEST_TEXT:,} letters; "
                    "shorten it or leave the column out."
                )
    return column.to_pylist()
