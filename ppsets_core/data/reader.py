"""The one reader: tables of any format, whole or in parts, as columns.

`scan` lists what there is to read and decides what each column holds; `read_rows` reads it.
"""

import io
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ppsets_core.data import parquet
from ppsets_core.data.arrays import read_json, read_npy, read_npz
from ppsets_core.data.columns import (
    ALWAYS_NUMBERS,
    HEAD_ROWS,
    MAX_CELLS,
    Columns,
    RawBatch,
    check_texts,
    columns_of,
    is_number,
    is_text,
    number_columns,
)
from ppsets_core.data.delimited import read_delimited
from ppsets_core.errors import FileError
from ppsets_core.files.handles import FileLike, name_of, read_bytes
from ppsets_core.files.names import IGNORED, RESERVED, column_name, is_clutter, shown_name

if TYPE_CHECKING:
    import pyarrow as pa

MAX_BYTES = 100_000_000
BOM = b"\xef\xbb\xbf"
BY_FIRST_BYTES = {b"\x93NUMPY": "npy", b"PK\x03\x04": "npz", b"PAR1": "parquet", b"[": "json", b"{": "json"}
WHOLE = {"npy": read_npy, "npz": read_npz, "json": read_json}
EMPTY = "{source}: it is empty. At least one record is needed."


@dataclass(frozen=True)
class RowRange:
    """Rows of one file: row groups of a Parquet file, or all rows of a file of another format or in memory."""

    file: Path | bytes | tuple[RawBatch, ...]
    source: str
    groups: range | None = None
    first_row: int = 0


Task = tuple[RowRange, ...]
Scan = tuple[str, tuple[Task, ...], int | None, tuple[str, ...]]


def scan(
    file: bytes | str | Path | FileLike,
    name: str | None,
    texts: Collection[str],
    classes: Collection[str],
    rows_per_task: int,
    *,
    keep: bool = False,
) -> Scan:
    """Look at a file, an upload or a folder of parts, every one of which must have the same columns.

    Returns what to call it, what is to be read, how many rows there are, None where only reading tells, and the columns
    of numbers and text in their order.
    texts: columns to read as text. classes: columns to read as numbers, as are `score` and `novelty`; the rest is
    decided by types and the first rows. keep: parse a file that is not Parquet once and keep it; uploads always are.
    """
    source = shown_name(name or name_of(file) or "scores")
    parts = _local_parts(Path(file), source) if isinstance(file, str | Path) else [_upload(file, source)]
    if isinstance(parts[0].file, Path) and _format(parts[0]) == "parquet":
        return _scan_parquet(source, parts, texts, classes, rows_per_task)
    if keep:
        parts = [replace(part, file=tuple(_raw_batches(part))) for part in parts]
    headers = [next(_raw_batches(part)).arrays for part in parts]
    _check_same(parts, headers)
    numeric = number_columns(_first_rows(batch for part in parts for batch in _raw_batches(part)), texts, classes)
    return source, tuple((part,) for part in parts), None, _names(headers[0], numeric, texts)


def _local_parts(path: Path, source: str) -> list[RowRange]:
    path = path.absolute()
    try:
        if not path.exists():
            raise FileError(f"{source}: there is no such file or folder.")
        if path.is_dir():
            return list_parts(path)
        if not path.is_file():
            raise FileError(f"{source}: it is neither a file nor a folder.")
    except FileError:
        raise
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "its name is not valid"
        raise FileError(f"{source}: it cannot be opened ({why}).") from None
    return [RowRange(path, source)]


def _upload(file: bytes | FileLike, source: str) -> RowRange:
    try:
        data = read_bytes(file, MAX_BYTES + 1)
    except FileError as error:
        raise FileError(f"{source}: {error}") from None
    if len(data) > MAX_BYTES:
        raise too_large(source)
    rows, size = RowRange(data, source), 0
    batches = tuple(_raw_batches(rows))
    for batch in batches if _format(rows) != "parquet" else ():  # whose texts were measured in the sandbox
        size = check_texts(batch, size)
    if not any(map(_rows, batches)):
        raise FileError(EMPTY.format(source=source))
    return RowRange(batches, source)


def too_large(source: str) -> FileError:
    most = f"larger than {MAX_BYTES // 1_000_000} MB"
    return FileError(f"{shown_name(source)}: {most}; keep only the columns and rows needed.")


def size_of(path: Path) -> int:
    """The bytes of a file, or of all files in a folder; 0 where there is none."""
    try:
        files = path.rglob("*") if path.is_dir() else [path]
        return sum(file.stat().st_size for file in files if file.is_file())
    except (OSError, ValueError):
        return 0


def read_rows(rows: RowRange, wanted: Sequence[str], texts: Collection[str]) -> Iterator[Columns]:
    """The wanted columns of a scanned range, batch by batch."""
    for batch in _raw_batches(rows, tuple(wanted)):
        if _rows(batch):
            yield columns_of(batch, wanted, texts)


def _raw_batches(rows: RowRange, wanted: tuple[str, ...] | None = None) -> Iterator[RawBatch]:
    """The rows as Arrow; at least one batch, which may be empty. Uploads are bounded, files on this machine are not."""
    file, source = rows.file, rows.source
    if isinstance(file, tuple):
        yield from file
        return
    kind = _format(rows)
    if kind == "parquet" and isinstance(file, bytes):
        yield from parquet.read_upload(file.removeprefix(BOM), source)
    elif kind == "parquet":
        assert rows.groups is not None
        yield from parquet.read_row_groups(_path(rows), source, rows.groups, rows.first_row, wanted or ())
    elif kind == "csv":
        with io.BytesIO(file) if isinstance(file, bytes) else _opened(file, source) as stream:
            yield from read_delimited(stream, source, MAX_CELLS if isinstance(file, bytes) else None)
    else:
        data = file if isinstance(file, bytes) else read_bytes(file, MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise too_large(source)
        yield WHOLE[kind](data.removeprefix(BOM), source)


def _format(rows: RowRange) -> str:
    """The format by a file's first bytes, or by its ending where they are not a format's own."""
    if rows.groups is not None:
        return "parquet"
    if isinstance(rows.file, bytes):
        start = rows.file[:64]
    else:
        with _opened(_path(rows), rows.source) as stream:
            start = stream.read(64)
    start = start.removeprefix(BOM).lstrip()
    ending = Path(rows.source).suffix.casefold().removeprefix(".")
    by_ending = ending if ending in ("parquet", *WHOLE) else "csv"
    return next((kind for mark, kind in BY_FIRST_BYTES.items() if start.startswith(mark)), by_ending)


def _opened(path: Path, source: str) -> io.BufferedReader:
    try:
        return path.open("rb")
    except OSError as error:
        raise FileError(f"{source}: it cannot be opened ({error.strerror}).") from None


def _rows(batch: RawBatch) -> int:
    return max(map(len, batch.arrays.values()), default=0)


def _first_rows(batches: Iterable[RawBatch]) -> Iterator[RawBatch]:
    """The first rows, as many as decide what the columns hold."""
    left = HEAD_ROWS
    for batch in batches:
        yield replace(batch, arrays={name: array[:left] for name, array in batch.arrays.items()})
        left -= _rows(batch)
        if left <= 0:
            return


def _names(header: Iterable[str], numeric: Collection[str], texts: Collection[str]) -> tuple[str, ...]:
    return tuple(name for name in header if name in numeric or name in texts)


def _check_same(parts: Sequence[RowRange], columns: Sequence[Collection[str]]) -> None:
    for part, found in zip(parts, columns, strict=True):
        if set(found) != set(columns[0]):
            raise FileError(f"{part.source}: its columns are not those of {parts[0].source}; give every part the same.")


def _scan_parquet(
    source: str, parts: list[RowRange], texts: Collection[str], classes: Collection[str], most: int
) -> Scan:
    described = [parquet.describe(_path(part), part.source) for part in parts]
    _check_same(parts, [kinds for kinds, _ in described])
    tasks = _tasks(parts, [groups for _, groups in described], most)
    if not tasks:
        raise FileError(EMPTY.format(source=source))
    kinds = _kinds([kinds for kinds, _ in described])
    numeric = {name for name, kind in kinds.items() if is_number(kind)} | ALWAYS_NUMBERS | set(classes)
    known = numeric | IGNORED | set(texts)
    unsure = tuple(name for name, kind in kinds.items() if name not in known and is_text(kind))
    if unsure:
        head = (batch for task in tasks for rows in task for batch in _raw_batches(rows, unsure))
        numeric |= set(number_columns(_first_rows(head), texts, classes))
    total = sum(sum(groups) for _, groups in described)
    return source, tasks, total, _names(kinds, numeric, texts)


def _kinds(parts: list[dict[str, "pa.DataType"]]) -> dict[str, "pa.DataType"]:
    """Each column's type in the first part that has entries of it."""
    from pyarrow import types

    known = [{name: kind for name, kind in kinds.items() if not types.is_null(kind)} for kinds in parts]
    return {name: next((kinds[name] for kinds in known if name in kinds), kind) for name, kind in parts[0].items()}


def _tasks(parts: list[RowRange], groups: list[list[int]], most: int) -> tuple[Task, ...]:
    """Row groups in order, as many to a task as have at most so many rows together."""
    tasks: list[list[RowRange]] = []
    waiting = most + 1
    for part, sizes in zip(parts, groups, strict=True):
        before = 0
        for number, size in enumerate(sizes):
            if not size:
                continue
            if waiting + size > most:
                tasks.append([])
                waiting = 0
            last = tasks[-1][-1] if tasks[-1] else None
            if last is not None and last.file == part.file and last.groups is not None:
                tasks[-1][-1] = replace(last, groups=range(last.groups.start, number + 1))
            else:
                tasks[-1].append(replace(part, groups=range(number, number + 1), first_row=before))
            waiting += size
            before += size
    return tuple(map(tuple, tasks))


def list_parts(folder: Path) -> list[RowRange]:
    """The Parquet files below a folder, or its CSV files if it holds nothing else, in the order of their names."""
    found = sorted(_files(folder))
    parts = [name for name in found if name.lower().endswith(".parquet")]
    if not parts and all(name.lower().endswith((".csv", ".tsv")) for name in found):
        parts = found
    if not parts:
        raise FileError(f"{shown_name(folder.name)}: there is no Parquet file (*.parquet) in this folder.")
    _check_inside(folder, parts)
    for key in {part.split("=")[0] for name in parts for part in name.split("/")[:-1] if "=" in part}:
        if column_name(key) in RESERVED:
            raise FileError(
                f"{shown_name(folder.name)}: its folders are named '{shown_name(key)}=…', which is not read as a "
                "column. Write it into the files."
            )
    return [RowRange(folder / name, shown_name(f"{folder.name}/{name}")) for name in parts]


def has_parts(folder: Path) -> bool:
    return any(name.lower().endswith(".parquet") for name in _files(folder))


def _files(folder: Path) -> Iterator[str]:
    names = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return (name for name in names if not is_clutter(name) and not name.split("/")[-1].startswith("_"))


def _check_inside(folder: Path, names: list[str]) -> None:
    root = folder.resolve()
    for name in names:
        if not (folder / name).resolve().is_relative_to(root):
            source = shown_name(f"{folder.name}/{name}")
            raise FileError(f"{source}: it is a link that leads out of the folder; copy the file itself.")


def _path(rows: RowRange) -> Path:
    assert isinstance(rows.file, Path)
    return rows.file
