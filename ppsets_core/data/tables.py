"""NPY, NPZ, Parquet and JSON as columns."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ppsets_core.data.arrays import read_npy, read_npz
from ppsets_core.data.columns import (
    MAX_CELLS,
    TEXTS,
    Columns,
    brief_name,
    check_cells,
    check_names,
    numbers_or_none,
    text,
    text_column,
)
from ppsets_core.data.parquet import read_parquet
from ppsets_core.errors import FileError
from ppsets_core.files.column_names import TEXT, column_name
from ppsets_core.validation import Location

Cells = Sequence[Any] | np.ndarray
MAX_JSON_CELLS = MAX_CELLS // 3  # each is several objects while it is read
MAX_JSON_RECORDS = MAX_CELLS // 12  # and each of these a dictionary


def columns_of_npy(data: bytes, source: str, texts: frozenset[str] = TEXT) -> Columns:
    array = read_npy(data, source)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise FileError(
            f"{source}: an NPY file holds one score per record. "
            "For probabilities use NPZ with the arrays 'probabilities' and 'label', or CSV."
        )
    return _columns({"score": array}, source, texts)


def columns_of_npz(data: bytes, source: str, texts: frozenset[str] = TEXT) -> Columns:
    return _columns(read_npz(data, source), source, texts)


def columns_of_json(data: bytes, source: str, texts: frozenset[str] = TEXT) -> Columns:
    check_cells(data.count(b","), source, MAX_JSON_CELLS)
    check_cells(data.count(b"{"), source, MAX_JSON_RECORDS)
    try:
        document = json.loads(data, object_pairs_hook=lambda pairs: _without_repeats(pairs, source))
    except FileError:
        raise
    except (ValueError, RecursionError) as error:
        line = f", line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise FileError(f"{source}{line}: it is not valid JSON; save it again or use CSV.") from None
    if isinstance(document, list) and document and all(isinstance(record, dict) for record in document):
        names = document[0]
        if odd := next((row for row, record in enumerate(document, 1) if record.keys() != names.keys()), None):
            raise FileError(
                f"{source}, record {odd}: its fields are not those of the first; give every record the same, and null "
                "where something is not known."
            )
        check_cells(len(names) * len(document), source)
        document = {name: [record.get(name) for record in document] for name in names}
    elif isinstance(document, list):
        document = {"score": document}
    if not isinstance(document, dict) or not all(isinstance(column, list) for column in document.values()):
        raise FileError(f"{source}: give a list of scores, a list of records, or an object with one list per column.")
    return _columns(document, source, texts)


def columns_of_parquet(data: bytes, source: str, texts: frozenset[str] = TEXT) -> Columns:
    return _columns(read_parquet(data, source, texts), source, texts)


def _columns(raw: Mapping[str, Cells], source: str, texts: frozenset[str]) -> Columns:
    named: dict[str, Cells] = {column_name(name): values for name, values in raw.items()}
    check_names([column_name(name) for name in raw], source)
    class_names = named.pop("classes", None)
    if "probabilities" in named:
        named |= _class_columns(named.pop("probabilities"), class_names, source)
    check_cells(
        sum(np.size(cells) if isinstance(cells, np.ndarray) else len(cells) for cells in named.values()), source
    )
    values = {}
    for name, cells in named.items():
        if _is_nested(cells):
            shown = brief_name(name)
            raise FileError(f"{source}: the column '{shown}' is nested or no list; give one number or text per record.")
        column = _numbers(name, cells) if name not in texts else _texts(name, cells, source)
        if column is not None:
            values[name] = column
    if len({len(column) for column in values.values()}) > 1:
        raise FileError(f"{source}: the columns are not all of one length; give one entry per record in each.")
    return Columns(Location(source), values)


def _is_nested(cells: Cells) -> bool:
    if isinstance(cells, np.ndarray):
        return cells.ndim != 1
    return any(isinstance(cell, list | dict) for cell in cells)


def _texts(name: str, cells: Cells, source: str) -> np.ndarray:
    return cells if isinstance(cells, np.ndarray) and cells.dtype == TEXTS else text_column(name, cells, source)


def _numbers(name: str, cells: Cells) -> np.ndarray | None:
    if not isinstance(cells, np.ndarray):
        return numbers_or_none(name, cells)
    if cells.dtype.kind in "fiu":
        return cells.astype(np.float64)
    return numbers_or_none(name, map(text, cells)) if cells.dtype.kind in "bSUT" else None


def _class_columns(rows: Cells, class_names: Cells | None, source: str) -> dict[str, np.ndarray]:
    try:
        array = np.asarray(rows, dtype=np.float64)
        if array.ndim != 2 or np.iscomplexobj(rows):
            raise ValueError
    except (TypeError, ValueError, OverflowError):
        raise FileError(f"{source}: 'probabilities' must hold one row per record and one number per class.") from None
    if class_names is None:
        class_names = range(array.shape[1])
    elif _is_nested(class_names) or len(class_names) != array.shape[1]:
        count = "is no list of names" if _is_nested(class_names) else f"has {len(class_names)} names"
        raise FileError(f"{source}: 'classes' {count} for {array.shape[1]} probabilities a row.")
    names = [text(name) for name in class_names]
    check_names(names, source)
    return dict(zip(names, array.T, strict=True))


def _without_repeats(pairs: list[tuple[str, object]], source: str) -> dict:
    check_names([name for name, _ in pairs], source)
    return dict(pairs)
