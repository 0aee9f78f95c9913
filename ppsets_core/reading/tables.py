"""NPY, NPZ, Parquet and JSON as columns."""

import io
import json

import numpy as np

from ppsets_core.errors import FileError
from ppsets_core.reading.arrays import MAX_UNPACKED, read_npy, read_npz
from ppsets_core.reading.columns import MAX_CELLS, TEXT, Columns, check_names, column_name, numbers_or_none, text
from ppsets_core.validation import Place


def columns_of_npy(data: bytes, source: str) -> Columns:
    array = read_npy(data, source)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise FileError(
            f"{source}: an NPY file holds one score a record. "
            "For probabilities use NPZ with the arrays 'probabilities' and 'label', or CSV."
        )
    return _columns({"score": array}, source)


def columns_of_npz(data: bytes, source: str) -> Columns:
    return _columns(read_npz(data, source), source)


def columns_of_json(data: bytes, source: str) -> Columns:
    try:
        document = json.loads(data, object_pairs_hook=lambda pairs: _without_repeats(pairs, source))
    except FileError:
        raise
    except (ValueError, RecursionError) as error:
        line = f", line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise FileError(f"{source}{line}: it is not valid JSON; save it again or use CSV.") from None
    if isinstance(document, list) and document and all(isinstance(record, dict) for record in document):
        names = dict.fromkeys(name for record in document for name in record)
        document = {name: [record.get(name) for record in document] for name in names}
    elif isinstance(document, list):
        document = {"score": document}
    if not isinstance(document, dict) or not all(isinstance(column, list) for column in document.values()):
        raise FileError(f"{source}: give a list of scores, a list of records, or an object with one list a column.")
    return _columns(document, source)


def columns_of_parquet(data: bytes, source: str) -> Columns:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(io.BytesIO(data))
        schema, meta = file.schema_arrow, file.metadata
        unpacked = sum(meta.row_group(i).total_byte_size for i in range(meta.num_row_groups))
        if meta.num_rows * max(1, len(schema)) > MAX_CELLS or unpacked > MAX_UNPACKED:
            raise FileError(f"{source}: more than {MAX_CELLS:,} cells; split the file.")
        check_names([column_name(name) for name in schema.names], source)
        for field in schema:
            if pa.types.is_nested(field.type):
                raise FileError(f"{source}: the column '{field.name}' is nested; give one plain number or text a cell.")
        table = file.read()
        return _columns({name: table.column(name).to_pylist() for name in schema.names}, source)
    except (pa.ArrowException, OSError, ValueError) as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"{source}: the Parquet file is damaged or cut short; save it again.") from None


def _columns(raw: dict[str, list | np.ndarray], source: str) -> Columns:
    named = {column_name(name): values for name, values in raw.items()}
    check_names([column_name(name) for name in raw], source)
    class_names = named.pop("classes", None)
    if "probabilities" in named:
        named |= _class_columns(named.pop("probabilities"), class_names, source)
    values = {}
    for name, cells in named.items():
        if any(isinstance(cell, list | dict | np.ndarray) for cell in cells):
            raise FileError(f"{source}: the column '{name}' is nested; give one number or text a record.")
        column = np.array([text(cell) for cell in cells]) if name in TEXT else _numbers(cells)
        if column is not None:
            values[name] = column
    if len({len(column) for column in values.values()}) > 1:
        raise FileError(f"{source}: the columns are not all of one length; give one entry a record in each.")
    return Columns(Place(source), values)


def _numbers(cells: list | np.ndarray) -> np.ndarray | None:
    if isinstance(cells, np.ndarray) and cells.dtype.kind in "fiu":
        return cells.astype(np.float64)
    return numbers_or_none(list(cells))


def _class_columns(rows: list | np.ndarray, class_names: list | None, source: str) -> dict[str, np.ndarray]:
    try:
        array = np.asarray(rows, dtype=np.float64)
        if array.ndim != 2:
            raise ValueError
    except (TypeError, ValueError):
        raise FileError(f"{source}: 'probabilities' must hold one row a record and one number a class.") from None
    names = [text(name) for name in class_names] if class_names is not None else [str(i) for i in range(array.shape[1])]
    if len(names) != array.shape[1]:
        raise FileError(f"{source}: 'classes' has {len(names)} names for {array.shape[1]} probabilities a row.")
    check_names(names, source)
    return dict(zip(names, array.T, strict=True))


def _without_repeats(pairs: list[tuple[str, object]], source: str) -> dict:
    check_names([name for name, _ in pairs], source)
    return dict(pairs)
