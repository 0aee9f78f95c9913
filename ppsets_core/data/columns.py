"""A file as named columns, whatever its format: the common ground between formats and their meaning."""

import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from ppsets_core.errors import FileError
from ppsets_core.files.names import shown_name
from ppsets_core.validation import Location

MAX_BYTES = 100_000_000
MAX_CELLS = 12_000_000
MAX_COLUMNS = 10_000
LONGEST_TEXT = 1_000
HANDFUL = 10_000
LONGEST_NAME = 100
TEXTS = np.dtypes.StringDType()  # each cell as long as it is; with str every cell has the room of the longest


@dataclass(frozen=True)
class Columns:
    """Columns of equal length: float64 for numbers (nan where a cell is none), TEXTS for labels, patients, groups."""

    location: Location
    values: dict[str, np.ndarray]


def brief_name(name: str) -> str:
    """A column's name as it is fit to show: on one line, not for pages, without hidden characters."""
    shown = shown_name(name)
    return shown if len(shown) <= LONGEST_NAME else shown[: LONGEST_NAME - 1] + "…"


def check_names(names: Sequence[str], source: str) -> None:
    if len(names) > MAX_COLUMNS:
        raise FileError(f"{source}: more than {MAX_COLUMNS:,} columns; keep only those needed.")
    if len(set(names)) == len(names):
        return
    if repeated := sorted(name for name, times in Counter(names).items() if name and times > 1):
        raise FileError(f"{source}: the column '{brief_name(repeated[0])}' stands more than once; keep one of them.")


def check_cells(number: int, source: str, most: int = MAX_CELLS) -> None:
    """Refuse by number, before every cell becomes an object of its own."""
    if number > most:
        raise FileError(f"{source}: more than {most:,} cells; split the file.")


def text_column(name: str, cells: Iterable, source: str) -> np.ndarray:
    """Labels, patients or groups; a few thousand cells at a time are objects of their own."""
    whole = np.concatenate([np.array([], dtype=TEXTS), *(_texts(name, some, source) for some in _handfuls(cells))])
    if len(whole) and np.strings.str_len(whole).max() > LONGEST_TEXT:
        raise FileError(
            f"{source}: the column '{brief_name(name)}' has an entry of more than {LONGEST_TEXT:,} letters; shorten it."
        )
    return whole


def _texts(name: str, cells: list, source: str) -> np.ndarray:
    try:
        return np.array([text(cell) for cell in cells], dtype=TEXTS)
    except UnicodeError:
        half = f"the column '{brief_name(name)}' has an entry that is half a letter; save the file again."
        raise FileError(f"{source}: {half}") from None


def _handfuls(cells: Iterable) -> Iterator[list]:
    every = iter(cells)
    while some := list(islice(every, HANDFUL)):
        yield some


NEVER_TEXT = frozenset({"novelty", "score"})
"""Columns of numbers whatever is in them: whether τ̂ is released, and from what, may not hinge on what a record says."""
INDEX = re.compile(r"unnamed:.*|__index_level_\d+__", re.IGNORECASE)
"""What pandas calls an index that it writes as a column."""


class Numbers:
    """Cells as numbers, nan where one is none, as they come."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.values = array("d")
        self.filled = 0

    def add(self, cells: Iterable) -> None:
        for cell in cells:
            self.values.append(number(cell))
            self.filled += cell not in ("", None)

    def column(self) -> np.ndarray | None:
        """None if fewer than half of the filled cells are numbers, for then it is a column of text."""
        numbers = np.array(self.values)
        is_text = not 2 * np.count_nonzero(~np.isnan(numbers)) >= self.filled > 0
        return None if is_text and self.name not in NEVER_TEXT else numbers


def numbers_or_none(name: str, cells: Iterable) -> np.ndarray | None:
    numbers = Numbers(name)
    numbers.add(cells)
    return numbers.column()


def number(cell: Any) -> float:
    """A cell's number, with a decimal comma too; nan if it is none."""
    if isinstance(cell, bool):
        return np.nan
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


def text(value: object) -> str:
    """A label or patient as text; whole numbers read alike whether a format stores them as 3 or 3.0, and what is
    missing is '', also where a format has no other word for it than "not a number"."""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    if isinstance(value, bytes):
        return value.decode(errors="surrogateescape").strip()  # what is no text is refused where it is kept
    return "" if value is None or value != value else str(value).strip()
