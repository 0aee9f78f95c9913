"""Parquet in batches of rows, whatever the size of the file: typed columns straight into arrays."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ppsets_core.data.columns import LONGEST_TEXT, NEVER_TEXT, Columns, brief_name, check_names, text_column
from ppsets_core.data.parquet import DAMAGED, OTHER_TYPE, is_blank_text, is_text
from ppsets_core.errors import FileError, InputError
from ppsets_core.files.column_names import RESERVED, column_name
from ppsets_core.files.names import is_clutter, shown_name
from ppsets_core.validation import Location

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

ROWS = 131_072  # a batch: its arrays stay in the processor's cache, and its overhead is small
Kinds = dict[str, bool]


def list_parts(folder: Path) -> list[tuple[Path, str]]:
    """The Parquet files below a folder, in the order of their names, each with the name to show for it."""
    found = sorted(_parts(folder))
    if not found:
        raise FileError(f"{shown_name(folder.name)}: there is no Parquet file (*.parquet) in this folder.")
    _check_inside(folder, found)
    for key in {part.split("=")[0] for name in found for part in name.split("/")[:-1] if "=" in part}:
        if column_name(key) in RESERVED:
            raise FileError(
                f"{shown_name(folder.name)}: its folders are named '{shown_name(key)}=…', which is not read as a "
                "column. Write it into the files."
            )
    return [(folder / name, shown_name(f"{folder.name}/{name}")) for name in found]


def has_parts(folder: Path) -> bool:
    return any(True for _ in _parts(folder))


def _parts(folder: Path) -> Iterator[str]:
    found = (path for path in folder.rglob("*") if path.suffix.lower() == ".parquet" and path.is_file())
    names = (path.relative_to(folder).as_posix() for path in found)
    return (name for name in names if not is_clutter(name) and not name.split("/")[-1].startswith("_"))


def describe(path: Path, source: str) -> tuple[Kinds, list[int]]:
    """Whether each usable column is one of text, by name, and how many rows each row group has."""
    with refusing_damage(source):
        file = _opened(path)
        fields = [field for field in file.schema_arrow if is_plain(field, source)]
        check_names([column_name(field.name) for field in fields], source)
        kinds = {column_name(field.name): is_text(field.type) or is_blank_text(field) for field in fields}
        return kinds, [file.metadata.row_group(i).num_rows for i in range(file.metadata.num_row_groups)]


def read_batches(
    path: Path, source: str, groups: range, first_row: int, wanted: tuple[str, ...], texts: frozenset[str]
) -> Iterator[Columns]:
    """The columns of these row groups, batch by batch; `first_row` is the number of rows before them in the file."""
    with refusing_damage(source):
        file = _opened(path)
        found = {column_name(field.name): field.name for field in file.schema_arrow if is_plain(field, source)}
        raw = {found[known]: known for known in wanted}
        words = [name for name in raw if is_text(file.schema_arrow.field(name).type)]
        file = _opened(path, words)
        for batch in file.iter_batches(ROWS, row_groups=list(groups), columns=list(raw), use_threads=False):
            rows = range(first_row + 1, first_row + batch.num_rows + 1)
            values = {
                known: _array(batch.column(name), known, known in texts, source)
                for name, known in raw.items()
                if known in texts or name not in words
            }
            first_row += batch.num_rows
            yield Columns(Location(source, rows=rows), values)


def _opened(path: Path, texts: list[str] | None = None) -> "pq.ParquetFile":
    import pyarrow.parquet as pq

    return pq.ParquetFile(path, read_dictionary=texts, pre_buffer=False, buffer_size=1 << 20)


def _array(column: "pa.Array", name: str, as_text: bool, source: str) -> np.ndarray:
    import pyarrow as pa
    import pyarrow.compute as pc

    if as_text:
        column = column if isinstance(column, pa.DictionaryArray) else column.dictionary_encode()
        if is_text(column.dictionary.type):
            check_length(column.dictionary, name, source)
        words, places = text_column(name, [*column.dictionary.to_pylist(), None], source), column.indices
        if places.null_count:  # pyarrow loads pandas to fill them
            places = places.fill_null(len(words) - 1)
        return words[places.to_numpy(zero_copy_only=False)]
    if pa.types.is_decimal(column.type):
        return np.array([np.nan if cell is None else float(cell) for cell in column.to_pylist()], dtype=np.float64)
    if column.type != pa.float64():
        column = pc.cast(column, pa.float64(), safe=False)
    return column.to_numpy(zero_copy_only=False)


@contextmanager
def refusing_damage(source: str) -> Iterator[None]:
    """Whatever pyarrow meets in a damaged file, as one sentence."""
    import pyarrow as pa

    try:
        yield
    except InputError:
        raise
    except (FileNotFoundError, PermissionError) as error:
        raise FileError(f"{source}: it cannot be opened ({error.strerror}).") from None
    except (pa.ArrowException, OSError, ValueError, TypeError, OverflowError, MemoryError):
        raise FileError(f"{source}: {DAMAGED}") from None


def _check_inside(folder: Path, names: list[str]) -> None:
    root = folder.resolve()
    for name in names:
        if not (folder / name).resolve().is_relative_to(root):
            source = shown_name(f"{folder.name}/{name}")
            raise FileError(f"{source}: it is a link that leads out of the folder; copy the file itself.")


def is_plain(field: "pa.Field", source: str) -> bool:
    from pyarrow import types

    if types.is_nested(field.type):
        name = brief_name(field.name)
        raise FileError(f"{source}: the column '{name}' is nested; give one plain number or text per cell.")
    plain = is_number(field.type) or is_text(field.type) or is_blank_text(field)
    if not plain and column_name(field.name) in RESERVED:
        raise FileError(f"{source}: the column '{brief_name(field.name)}' {OTHER_TYPE}")
    if is_text(field.type) and column_name(field.name) in NEVER_TEXT:
        raise FileError(f"{source}: the column '{brief_name(field.name)}' is of text; save it as numbers.")
    return plain


def is_number(kind: "pa.DataType") -> bool:
    from pyarrow import types

    return types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)


def check_length(texts: "pa.Array", name: str, source: str) -> None:
    """Refuse a text of pages before it is repeated for every row that refers to it."""
    import pyarrow.compute as pc

    if (pc.max(pc.binary_length(texts)).as_py() or 0) > LONGEST_TEXT:
        raise FileError(
            f"{source}: the column '{brief_name(name)}' has an entry of more than {LONGEST_TEXT:,} letters; "
            "shorten it or leave the column out."
        )
