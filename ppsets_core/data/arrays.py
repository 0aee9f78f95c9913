"""NPY, NPZ and JSON as Arrow: never unpickled, and never larger in memory than the file can hold."""

import io
import json
import math
import zipfile
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ppsets_core.data.columns import (
    MAX_CELLS,
    MAX_COLUMNS,
    MAX_UNPACKED,
    TOO_LARGE,
    RawBatch,
    brief_name,
    check_cells,
    check_names,
    not_plain,
    whole,
)
from ppsets_core.errors import FileError
from ppsets_core.files.handles import READABLE, open_zip
from ppsets_core.files.names import RESERVED, column_name
from ppsets_core.inputs import is_half, spelled
from ppsets_core.validation import Location

if TYPE_CHECKING:
    import pyarrow as pa

Cells = Sequence[Any] | np.ndarray
MAX_DIRECTORY_BYTES = 256 * MAX_COLUMNS
MAX_JSON_CELLS = MAX_CELLS // 3  # each is several objects while it is read
MAX_JSON_RECORDS = MAX_CELLS // 12  # and each of these a dictionary


def read_npy(data: bytes, source: str) -> RawBatch:
    array = _array(data, source)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise FileError(
            f"{source}: an NPY file holds one score per record. "
            "For probabilities use NPZ with the arrays 'probabilities' and 'label', or CSV."
        )
    return _batch({"score": array}, source)


def read_npz(data: bytes, source: str) -> RawBatch:
    damaged = f"{source}: the archive is damaged or encrypted; save it again with numpy.savez."
    try:
        archive = open_zip(io.BytesIO(data), MAX_DIRECTORY_BYTES)
    except FileError:
        raise FileError(damaged) from None
    try:
        members = archive.infolist()
        _check_members(members, source)
        arrays = {m.filename[: -len(".npy")]: _array(_unpack(archive, m, source), source) for m in members}
    except FileError:
        raise
    except Exception:  # zipfile and zlib fail on hostile bytes in many ways
        raise FileError(damaged) from None
    return _batch(arrays, source)


def read_json(data: bytes, source: str) -> RawBatch:
    """A list of scores, a list of records, or an object with a list for each column."""
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
        document = _columns_of_records(document, source)
    elif isinstance(document, list):
        document = {"score": document}
    if not isinstance(document, dict) or not all(isinstance(column, list) for column in document.values()):
        raise FileError(f"{source}: give a list of scores, a list of records, or an object with one list per column.")
    return _batch(document, source)


def _columns_of_records(records: list[dict], source: str) -> dict[str, list]:
    names = records[0]
    if odd := next((row for row, record in enumerate(records, 1) if record.keys() != names.keys()), None):
        raise FileError(
            f"{source}, record {odd}: its fields are not those of the first; give every record the same, and null "
            "where something is not known."
        )
    check_cells(len(names) * len(records), source)
    return {name: [record.get(name) for record in records] for name in names}


def _without_repeats(pairs: list[tuple[str, object]], source: str) -> dict:
    check_names([name for name, _ in pairs], source)
    return dict(pairs)


def _array(data: bytes, source: str) -> np.ndarray:
    """The array of an NPY file."""
    stream = io.BytesIO(data)
    try:
        version = np.lib.format.read_magic(stream)
        read_header = {(1, 0): np.lib.format.read_array_header_1_0}.get(version, np.lib.format.read_array_header_2_0)
        shape, fortran, dtype = read_header(stream)
    except Exception:  # the header is Python source, and numpy fails on hostile source in many ways
        raise FileError(f"{source}: the array's header is damaged; save it again with numpy.save.") from None
    if dtype.hasobject:
        raise FileError(f"{source}: it holds pickled objects, which can run code; save plain numbers or text.")
    if not all(type(side) is int and side >= 0 for side in shape):
        raise FileError(f"{source}: the array's header is damaged; save it again with numpy.save.")
    if dtype.names or math.prod(shape) * dtype.itemsize != len(data) - stream.tell():
        raise FileError(f"{source}: the array is cut short or of a structured type; save it again with numpy.save.")
    check_cells(math.prod(max(1, side) for side in shape), source)  # entries of no bytes, or none a row, count as well
    try:
        order: Literal["F", "C"] = "F" if fortran else "C"
        return np.frombuffer(data, dtype, math.prod(shape), stream.tell()).reshape(shape, order=order)
    except Exception:
        raise FileError(f"{source}: the array is of a rare type; save plain numbers or text.") from None


def _check_members(members: list[zipfile.ZipInfo], source: str) -> None:
    if not members or not all(member.filename.endswith(".npy") for member in members):
        raise FileError(f"{source}: it is an archive but not NPZ; save a spreadsheet as CSV and try again.")
    check_names([member.filename[: -len(".npy")] for member in members], source)
    if not all(member.compress_type in READABLE for member in members):
        raise FileError(f"{source}: it is compressed in a rare way; save it again with numpy.savez_compressed.")
    if sum(member.file_size for member in members) > MAX_UNPACKED:
        raise FileError(f"{source}: {TOO_LARGE}")


def _unpack(archive: zipfile.ZipFile, member: zipfile.ZipInfo, source: str) -> bytes:
    with archive.open(member) as stream:
        data = stream.read(member.file_size + 1)
    if len(data) != member.file_size:
        raise FileError(f"{source}: the archive's sizes are wrong; save it again with numpy.savez.")
    return data


def _batch(raw: Mapping[str, Cells], source: str) -> RawBatch:
    """Arrays or lists of cells as Arrow, a table of probabilities as one column for each class."""
    check_names([column_name(name) for name in raw], source)
    named: dict[str, Cells] = {column_name(name): cells for name, cells in raw.items()}
    class_names = named.pop("classes", None)
    if "probabilities" in named:
        named |= _class_columns(named.pop("probabilities"), class_names, source)
    check_cells(
        sum(np.size(cells) if isinstance(cells, np.ndarray) else len(cells) for cells in named.values()), source
    )
    for name, cells in named.items():
        if _is_nested(cells):
            shown = brief_name(name)
            raise FileError(f"{source}: the column '{shown}' is nested or no list; give one number or text per record.")
    arrays = {name: _arrow(name, cells, source) for name, cells in named.items()}
    return RawBatch(Location(source), {name: whole(array) for name, array in arrays.items() if array is not None})


def _is_nested(cells: Cells) -> bool:
    if isinstance(cells, np.ndarray):
        return cells.ndim != 1
    return any(isinstance(cell, list | dict) for cell in cells)


def _arrow(name: str, cells: Cells, source: str) -> "pa.Array | None":
    """Cells as an Arrow array; None for what is neither numbers nor text and has no reserved name."""
    import pyarrow as pa

    try:
        if not isinstance(cells, np.ndarray):
            return _arrow_of_list(cells)
        if cells.dtype.kind == "S":
            return pa.array(cells).cast(pa.string())
        if cells.dtype.kind in "biuU":
            return pa.array(cells.astype(cells.dtype.newbyteorder("=")))
        if cells.dtype.kind == "f":
            return pa.array(cells.astype(np.float16 if is_half(cells) else np.float64, copy=False))
    except (pa.ArrowException, UnicodeError):
        pass  # bytes that are no text
    if name in RESERVED:
        raise not_plain(name, source)
    return None


def _arrow_of_list(cells: Sequence[Any]) -> "pa.Array":
    """Numbers or text as JSON has them; cells of several kinds in one column, and long whole numbers, as text."""
    import pyarrow as pa

    try:
        return pa.array(cells)
    except (pa.ArrowException, OverflowError):
        return pa.array([spelled(cell) or None for cell in cells], pa.string())


def _class_columns(rows: Cells, class_names: Cells | None, source: str) -> dict[str, np.ndarray]:
    try:
        array = np.asarray(rows) if is_half(rows) else np.asarray(rows, dtype=np.float64)
        if array.ndim != 2 or np.iscomplexobj(rows):
            raise ValueError
    except (TypeError, ValueError, OverflowError):
        raise FileError(f"{source}: 'probabilities' must hold one row per record and one number per class.") from None
    if class_names is None:
        class_names = range(array.shape[1])
    elif _is_nested(class_names) or len(class_names) != array.shape[1]:
        count = "is no list of names" if _is_nested(class_names) else f"has {len(class_names)} names"
        raise FileError(f"{source}: 'classes' {count} for {array.shape[1]} probabilities a row.")
    names = [spelled(name.decode() if isinstance(name, bytes) else name) for name in class_names]
    check_names(names, source)
    return dict(zip(names, array.T, strict=True))
