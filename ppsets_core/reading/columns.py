"""A file as named columns, whatever its format: the common ground between formats and their meaning."""

from dataclasses import dataclass

import numpy as np

from ppsets_core.errors import FileError
from ppsets_core.validation import Place

MAX_BYTES = 100_000_000
MAX_CELLS = 12_000_000

ALIASES = {
    "scores": "score",
    "labels": "label",
    "patients": "patient",
    "probs": "probabilities",
    "softmax": "probabilities",
}
RESERVED = {"score", "label", "patient", "probabilities", "classes"}
TEXT = {"label", "patient"}
IGNORED = {"", "file", "split", "covid", "index", "id"}


@dataclass(frozen=True)
class Columns:
    """Columns of equal length: float64 for numbers (nan where a cell is none), str for `label` and `patient`."""

    place: Place
    values: dict[str, np.ndarray]


def column_name(raw: str) -> str:
    """A header cell as the name it stands for: reserved names in any case and number."""
    name = str(raw).strip()
    folded = name.casefold()
    folded = ALIASES.get(folded, folded)
    return folded if folded in RESERVED | IGNORED else name


def check_names(names: list[str], source: str) -> None:
    if repeated := sorted({name for name in names if name and names.count(name) > 1}):
        raise FileError(f"{source}: the column '{repeated[0]}' stands more than once; keep one of them.")


def numbers_or_none(cells: list) -> np.ndarray | None:
    """Cells as numbers, nan where one is none; None if fewer than half are numbers, for then it is a column of text."""
    numbers = np.array([number(cell) for cell in cells], dtype=np.float64)
    filled = sum(cell not in ("", None) for cell in cells)
    return numbers if 2 * np.count_nonzero(~np.isnan(numbers)) >= filled > 0 else None


def number(cell: object) -> float:
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
