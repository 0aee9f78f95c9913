"""Named columns of numbers or text, whatever format they were read from.

Every format is read into Arrow arrays (`RawBatch`). This module alone decides which columns hold numbers and which hold
text, and turns them into numpy arrays and `Texts` (`Columns`). Texts are bounded as they are compared, not as they are
written: one letter can stand for eighteen.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ppsets_core.errors import FileError
from ppsets_core.files.names import GROWTH, MAX_TEXT, RESERVED, grown_letters, is_too_long, shown_name
from ppsets_core.inputs import spelled
from ppsets_core.validation import Location

if TYPE_CHECKING:
    import pyarrow as pa

MAX_CELLS = 12_000_000
MAX_COLUMNS = 10_000
MAX_UNPACKED = 250_000_000
TOO_LARGE = f"it unpacks to over {MAX_UNPACKED // 1_000_000} MB; save fewer columns."
MAX_NAME = 100
COST_OF_GROWTH = 32  # bytes: a letter that is gained takes so much longer than one that is read
HEAD_ROWS = 65_536
"""A column's kind is decided by this many first rows, so that it is the same however the rows are read."""
TEXTS = np.dtypes.StringDType()  # each cell takes the room it needs; with str every cell takes that of the longest
ALWAYS_NUMBERS = frozenset({"novelty", "score"})
"""Whether a threshold is released, and from what, may not depend on what a record says."""
INDEX = re.compile(r"unnamed:.*|__index_level_\d+__", re.IGNORECASE)
"""What pandas calls an index that it writes as a column."""


@dataclass(frozen=True)
class Texts:
    """A column of text: its different words, the last of them '' for an empty cell, and which of them each cell is."""

    words: Sequence[str]
    codes: np.ndarray

    def __len__(self) -> int:
        return len(self.codes)

    def of_words(self, values: ArrayLike, dtype: Any = None) -> np.ndarray:
        """What each cell is, from what each word is."""
        return np.asarray(values, dtype)[self.codes]

    def are(self, condition: Callable[[str], bool]) -> np.ndarray:
        return self.of_words([condition(word) for word in self.words], bool)

    def array(self) -> np.ndarray:
        return self.of_words(self.words, TEXTS)


@dataclass(frozen=True)
class Columns:
    """Columns of equal length: of numbers, float64 and nan where a cell is no number, and of text.

    `half_precision`: those of the numbers that were stored as float16."""

    location: Location
    numbers: dict[str, np.ndarray]
    texts: dict[str, Texts]
    half_precision: frozenset[str] = frozenset()

    def __len__(self) -> int:
        return max((len(column) for columns in (self.numbers, self.texts) for column in columns.values()), default=0)

    def take(self, rows: np.ndarray) -> "Columns":
        """The given rows, which keep their row numbers."""
        kept = np.asarray(range(1, len(self) + 1) if self.location.rows is None else self.location.rows)[rows]
        return Columns(
            replace(self.location, rows=kept),
            {name: column[rows] for name, column in self.numbers.items()},
            {name: Texts(column.words, column.codes[rows]) for name, column in self.texts.items()},
            self.half_precision,
        )


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
    if max(map(len, names), default=0) > MAX_TEXT:
        raise FileError(f"{source}: a column's name has more than {MAX_TEXT:,} letters; shorten it.")
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
    source, arrays = batch.location.source, batch.arrays
    if len({len(arrays[name]) for name in wanted}) > 1:
        raise FileError(f"{source}: the columns are not all of one length; give one entry per record in each.")
    return Columns(
        batch.location,
        {name: numbers(arrays[name]) for name in wanted if name not in texts},
        {name: texts_in(name, arrays[name], source) for name in wanted if name in texts},
        frozenset(name for name in wanted if name not in texts and _is_half(arrays[name].type)),
    )


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


def texts_in(name: str, array: "pa.Array", source: str) -> Texts:
    """A column as text; each distinct value is looked at once."""
    array = _encoded(array)
    _check_letters(name, array.dictionary, source)
    try:
        found = array.dictionary.to_pylist()
    except UnicodeError:
        half = f"the column '{brief_name(name)}' has an entry that is half a letter; save the file again."
        raise FileError(f"{source}: {half}") from None
    words = [word.strip() if word else "" for word in found] if is_text(array.type) else list(map(spelled, found))
    if max(map(len, words), default=0) > MAX_TEXT // GROWTH and any(map(is_too_long, words)):
        raise _too_long(name, source)
    return Texts([*words, ""], _indices(array))


def check_texts(batch: RawBatch, size: int = 0) -> int:
    """The size of all texts and `size` from before; refused where it is too much, or the letters of one are too many.

    One text, stored once, can stand in every row, and grow when it is compared."""
    source = batch.location.source
    for name, array in batch.arrays.items():
        size += _size_of_texts(name, array, source) if is_text(array.type) else 0
        if size > MAX_UNPACKED:
            raise FileError(f"{source}: {TOO_LARGE}")
    return size


def _size_of_texts(name: str, array: "pa.Array", source: str) -> int:
    import pyarrow.compute as pc

    if not hasattr(array, "dictionary") and pc.all(pc.string_is_ascii(array)).as_py() is not False:
        _check_letters(name, array, source)
        return pc.sum(pc.binary_length(array)).as_py() or 0
    array = _encoded(array)
    words = array.dictionary.fill_null("")
    _check_letters(name, words, source)
    times = np.bincount(_indices(array), minlength=len(words) + 1)[:-1]
    size = int(times @ pc.binary_length(words).to_numpy(zero_copy_only=False))
    for number in np.flatnonzero(~pc.string_is_ascii(words).to_numpy(zero_copy_only=False)):
        word = words[number].as_py()
        if is_too_long(word):
            raise _too_long(name, source)
        size += COST_OF_GROWTH * int(times[number]) * grown_letters(word)
    return size


def _check_letters(name: str, words: "pa.Array", source: str) -> None:
    import pyarrow.compute as pc

    if is_text(words.type) and (pc.max(pc.binary_length(words)).as_py() or 0) > 4 * MAX_TEXT:
        raise _too_long(name, source)


def _encoded(array: "pa.Array") -> "pa.DictionaryArray":
    return array if hasattr(array, "dictionary") else array.dictionary_encode()


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
