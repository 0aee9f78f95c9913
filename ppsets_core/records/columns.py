"""A file as named columns, whatever its format: the common ground between formats and their meaning."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ppsets_core.errors import FileError
from ppsets_core.files.names import shown_name
from ppsets_core.validation import Place

MAX_BYTES = 100_000_000
MAX_CELLS = 12_000_000
MAX_COLUMNS = 10_000
LONGEST_TEXT = 1_000
LONGEST_NAME = 100
TEXTS = np.dtypes.StringDType()  # each cell as long as it is; with str every cell has the room of the longest


@dataclass(frozen=True)
class Columns:
    """Columns of equal length: float64 for numbers (nan where a cell is none), TEXTS for labels, patients, groups."""

    place: Place
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
    """Labels, patients or groups."""
    try:
        column = np.array([text(cell) for cell in cells], dtype=TEXTS)
    except UnicodeEncodeError:
        raise FileError(
            f"{source}: the column '{name}' has an entry that is half a letter; save the file again."
        ) from None
    if len(column) and np.strings.str_len(column).max() > LONGEST_TEXT:
        raise FileError(
            f"{source}: the column '{name}' has an entry of more than {LONGEST_TEXT:,} letters; shorten it."
        )
    return column


def numbers_or_none(cells: Sequence[Any]) -> np.ndarray | None:
    """Cells as numbers, nan where one is none; None if fewer than half are numbers, for then it is a column of text."""
    numbers = np.array([number(cell) for cell in cells], dtype=np.float64)
    filled = sum(cell not in ("", None) for cell in cells)
    return numbers if 2 * np.count_nonzero(~np.isnan(numbers)) >= filled > 0 else None


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
    """A label or patient as text; whole numbers read alike whether a format stores them as 3 or 3.0."""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return "" if value is None else str(value).strip()
