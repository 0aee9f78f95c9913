"""Named columns of numbers or text, whatever format they were read from.

Every format is read into Arrow arrays (`RawBatch`). This module alone decides which columns hold numbers and which hold
text, and turns them into numpy arrays (`Columns`).
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ppsets_core.errors import FileError
from ppsets_core.files.column_names import IGNORED, RESERVED
from ppsets_core.files.names import shown_name
from ppsets_core.validation import Location

if TYPE_CHECKING:
    import pyarrow as pa

MAX_CELLS = 12_000_000
MAX_COLUMNS = 10_000
MAX_TEXT = 1_000
MAX_NAME = 100
HEAD_ROWS = 65_536
"""A column's kind is decided by this many first rows, so that it is the same however the rows are read."""
TEXTS = np.dtypes.StringDType()  # each cell takes the room it needs; with str every cell takes that of the longest
ALWAYS_NUMBERS = frozenset({"novelty", "score"})
"""Whether a threshold is released, and from what, may not depend on what a record says."""
INDEX = re.compile(r"unnamed:.*|__index_level_\d+__", re.IGNORECASE)
"""What pandas calls an index that it writes as a column."""


@dataclass(frozen=True)
class Columns:
    """Columns of equal length: float64 (nan where a cell is no number), or TEXTS ('' where it is empty).

    `half_precision`: those of the numbers that were stored as float16."""

    location: Location
    values: dict[str, np.ndarray]
    half_precision: frozenset[str] = frozenset()

    def __len__(self) -> int:
        return len(next(iter(self.values.values()), ()))

    def take(self, rows: np.ndarray) -> "Columns":
        """The given rows, which keep their row numbers."""
        numbers = self.location.rows
        kept = np.asarray(range(1, len(self) + 1) if numbers is None else numbers)[rows]
        values = {name: column[rows] for name, column in self.values.items()}
        return replace(self, location=replace(self.location, rows=kept), values=values)


@dataclass(frozen=True)
class RawBatch:
    """Some rows as Arrow arrays, by the name each column stands for.

    `typed`: whether the format tells text from numbers, as Parquet does and CSV does not."""

    location: Location
    arrays: Mapping[str, "pa.Array"]
    typed: bool = True


def brief_name(name: str) -> str:
    """A column's name on one line of at most 100 letters, without hidden characters."""
    shown = shown_name(name)
    return shown if len(shown) <= MAX_NAME else shown[: MAX_NAME - 1] + "…"


def check_names(names: Sequence[str], source: str) -> None:
    if len(names) > MAX_COLUMNS:
        raise FileError(f"{source}: more than {MAX_COLUMNS:,} columns; keep only those needed.")
    if len(set(names)) == len(names):
        return
    if repeated := sorted(name for name, times in Counter(names).items() if name and times > 1):
        raise FileError(f"{source}: the column '{brief_name(repeated[0])}' stands more than once; keep one of them.")


def check_cells(number: int, source: str, most: int = MAX_CELLS) -> None:
    if number > most:
        raise FileError(f"{source}: more than {most:,} cells; split the file.")


def check_type(name: str, kind: "pa.DataType", source: str, texts: Collection[str]) -> bool:
    """Whether a column of this type can be used; nested columns, and dates where a meaning is reserved, are refused."""
    from pyarrow import types

    if types.is_nested(kind):
        raise FileError(f"{source}: the column '{brief_name(name)}' is nested; give one plain number or text per cell.")
    plain = is_number(kind) or is_text(kind) or types.is_boolean(kind) or types.is_null(kind)
    if not plain and (name in RESERVED or name in texts):
        raise not_plain(name, source)
    return plain


def not_plain(name: str, source: str) -> FileError:
    return FileError(f"{source}: the column '{brief_name(name)}' is neither of numbers nor of text; save it as either.")


def is_number(kind: "pa.DataType") -> bool:
    from pyarrow import types

    return types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)


def _is_half(kind: "pa.DataType") -> bool:
    from pyarrow import types

    return types.is_float16(kind.value_type if types.is_dictionary(kind) else kind)


def is_text(kind: "pa.DataType") -> bool:
    from pyarrow import types

    if types.is_dictionary(kind):
        kind = kind.value_type
    return types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)


def whole(array: "pa.Array | pa.ChunkedArray") -> "pa.Array":
    """One array, also where Arrow made several of it for its size."""
    import pyarrow as pa

    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def number_columns(head: Iterable[RawBatch], texts: Collection[str], classes: Collection[str]) -> list[str]:
    """The columns of numbers, in their order, by their types and, where they are text, by the first rows."""
    found: dict[str, np.ndarray] = {}
    for batch in head:
        for name, array in batch.arrays.items():
            if name not in texts and check_type(name, array.type, batch.location.source, texts):
                found[name] = found.get(name, np.zeros(2, np.int64)) + _evidence(array, batch.typed)
    certain = ALWAYS_NUMBERS | set(classes)
    return [name for name, (numbers, filled) in found.items() if name in certain or 2 * numbers >= filled > 0]


def could_be_numbers(name: str, kind: "pa.DataType", texts: Collection[str]) -> bool:
    """Whether it takes a look at a column's cells to know whether it holds numbers."""
    return name not in texts and name not in IGNORED | ALWAYS_NUMBERS and is_text(kind)


def _evidence(array: "pa.Array", typed: bool) -> np.ndarray:
    """How many cells are numbers, and how many are filled.

    A column that a format declares as text is taken for numbers only where they can be probabilities, so that notes
    and codes are no diagnosis."""
    if is_number(array.type):
        return np.array([1, 1])
    values = numbers(array)
    is_one = (values >= 0) & (values <= 1) if typed else ~np.isnan(values)
    return np.array([is_one.sum(), len(array) - array.null_count])


def columns_of(batch: RawBatch, wanted: Sequence[str], texts: Collection[str]) -> Columns:
    """The wanted columns of a batch, `texts` as text and the others as numbers."""
    source = batch.location.source
    values = {
        name: text_array(name, batch.arrays[name], source) if name in texts else numbers(batch.arrays[name])
        for name in wanted
    }
    if len({len(column) for column in values.values()}) > 1:
        raise FileError(f"{source}: the columns are not all of one length; give one entry per record in each.")
    half = frozenset(name for name in wanted if name not in texts and _is_half(batch.arrays[name].type))
    return Columns(batch.location, values, half)


def numbers(array: "pa.Array") -> np.ndarray:
    """An array as float64, without a copy where it is that already; nan where a cell is no number."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = array.type
    if pa.types.is_dictionary(kind):
        return np.append(numbers(array.dictionary), np.nan)[_indices(array)]
    if is_text(kind):
        return _parsed_numbers(array)
    if pa.types.is_decimal(kind):
        return np.array([np.nan if cell is None else float(cell) for cell in array.to_pylist()], dtype=np.float64)
    if not is_number(kind):
        return np.full(len(array), np.nan)
    if kind != pa.float64():
        array = pc.cast(array, pa.float64(), safe=False)
    return array.to_numpy(zero_copy_only=False)


def _parsed_numbers(array: "pa.Array") -> np.ndarray:
    """Arrow parses as Python's `float` does, to the same bit; spellings that only Python knows go cell by cell."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for cells in (array, pc.replace_substring(array, ",", ".")):
        try:
            return pc.cast(cells, pa.float64()).to_numpy(zero_copy_only=False)
        except pa.ArrowInvalid:
            continue
    return np.array([number(cell) for cell in array.to_pylist()], dtype=np.float64)


def number(cell: Any) -> float:
    """A cell's number, also with a decimal comma; nan if it is none."""
    try:
        return float(cell)
    except (TypeError, ValueError, OverflowError):
        pass
    if not isinstance(cell, str) or cell.count(",") != 1:
        return np.nan
    try:
        return float(cell.replace(",", "."))
    except ValueError:
        return np.nan


def text_array(name: str, array: "pa.Array", source: str) -> np.ndarray:
    """An array as text; each distinct value is looked at once."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_dictionary(array.type):
        array = array.dictionary_encode()
    words = array.dictionary
    if is_text(words.type) and (pc.max(pc.binary_length(words)).as_py() or 0) > 4 * MAX_TEXT:
        raise _too_long(name, source)
    try:
        cells = map(str.strip, words.fill_null("").to_pylist()) if is_text(words.type) else map(text, words.to_pylist())
        distinct = np.array([*cells, ""], dtype=TEXTS)
    except UnicodeError:
        half = f"the column '{brief_name(name)}' has an entry that is half a letter; save the file again."
        raise FileError(f"{source}: {half}") from None
    if np.strings.str_len(distinct).max() > MAX_TEXT:
        raise _too_long(name, source)
    return distinct[_indices(array)]


def _indices(array: "pa.DictionaryArray") -> np.ndarray:
    """Which entry of the dictionary each cell is, one past the last where it is empty."""
    indices = array.indices
    if indices.null_count:  # filled here, as pyarrow would load pandas to do it
        indices = indices.fill_null(len(array.dictionary))
    return indices.to_numpy(zero_copy_only=False)


def _too_long(name: str, source: str) -> FileError:
    return FileError(
        f"{source}: the column '{brief_name(name)}' has an entry of more than {MAX_TEXT:,} letters; "
        "shorten it or leave the column out."
    )


def text(value: object) -> str:
    """A label or patient as text: whole numbers alike as 3 and 3.0, '' where it is missing or not a number."""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return "" if value is None or value != value else str(value).strip()
