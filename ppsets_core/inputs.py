"""Arrays from any library, read alike: lists, NumPy, torch, pandas and polars; with names where there are names."""

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ppsets_core.errors import InputError
from ppsets_core.files.names import unquoted
from ppsets_core.validation import (
    ROW_SUM_TOLERANCE,
    Location,
    check_names,
    check_probabilities,
    listed,
    refuse_first,
)

MISSING = ("NoneType", "NAType", "NaTType")
"""Types of missing values in Python and pandas."""
HALF_SUM_TOLERANCE = 2.0**-8  # bfloat16 rounds each probability by up to a 512th of it


@dataclass(frozen=True)
class Table:
    """Probabilities as checked float64 (N, K), perhaps the caller's own array; the names of the columns, if any; and
    whether they were in half precision."""

    values: np.ndarray
    names: tuple[str, ...] | None
    half_precision: bool

    def labels(self, labels: Any, classes: Sequence[str] | None = None) -> np.ndarray:
        """True classes as numbers of these columns."""
        return read_labels(labels, len(self.values), self.names or classes or numbered(self.values.shape[1]))

    def places_of(self, classes: Sequence[str]) -> np.ndarray | None:
        """Where each of the classes stands among the columns; None where they are the same, or not the same classes."""
        if self.names is None or self.names == tuple(classes) or sorted(self.names) != sorted(classes):
            return None
        return np.array([self.names.index(name) for name in classes])


def read_table(probabilities: Any, classes: Sequence[str] | None = None, what: str = "probabilities") -> Table:
    """Check probabilities; a DataFrame's columns are found by name where classes are given, in their order."""
    names, values = column_names(probabilities), as_array(probabilities)
    wanted = None if classes is None else read_classes(classes)
    if names is not None and wanted is not None and wanted != names:
        if missing := [name for name in wanted if name not in names]:
            raise InputError(f"{what}: there is no column for {listed(missing)}; the columns are {listed(names)}.")
        values, names = values[:, [names.index(name) for name in wanted]], wanted
    half = is_half(probabilities)
    tolerance = HALF_SUM_TOLERANCE if half else ROW_SUM_TOLERANCE
    found = check_probabilities(plain_numbers(values), Location(what, columns=names or ()), tolerance, copy=False)
    names = names or wanted
    if names is not None and len(names) != found.shape[1]:
        raise InputError(f"{what}: there are {len(names)} classes and {found.shape[1]} columns.")
    return Table(found, names, half)


def as_array(values: Any, what: str = "values") -> np.ndarray:
    """Values of any array library in NumPy; what is masked is missing."""
    if hasattr(values, "detach"):  # torch
        values = values.detach().cpu().resolve_conj().resolve_neg()
        return values.float().numpy() if "bfloat16" in str(values.dtype) else values.numpy()
    if isinstance(values, np.ma.MaskedArray):
        return np.ma.filled(values.astype(np.float64), np.nan) if values.dtype.kind in "biuf" else values.filled(None)
    if hasattr(values, "to_numpy"):
        return values.to_numpy()
    try:
        return np.asarray(values)
    except ValueError:
        raise InputError(f"{what}: the rows are not all of one length.") from None


def plain_numbers(values: np.ndarray) -> np.ndarray:
    """Numbers that came as objects, as pandas' and Python's missing ones do, as floats."""
    if values.dtype != object:
        return values
    kinds = {type(value) for value in values.ravel().tolist()}
    if not all(kind in (int, float) or kind.__name__ in MISSING for kind in kinds):
        return values
    return np.array([value if type(value) in (int, float) else np.nan for value in values.ravel().tolist()]).reshape(
        values.shape
    )


def is_half(values: Any) -> bool:
    """Whether numbers have 16 bits. The type is public, what they say is not."""
    kinds = getattr(values, "dtypes", ()) if hasattr(values, "columns") else (getattr(values, "dtype", None),)
    if list(kinds) == [None]:
        kinds = (as_array(values).dtype,)
    return any(str(getattr(kind, "name", kind)).casefold().endswith("float16") for kind in kinds)


def column_names(values: Any) -> tuple[str, ...] | None:
    """The names of a DataFrame's columns; None where there are none, or only their numbers."""
    columns = getattr(values, "columns", None)
    if columns is None or isinstance(values, np.ndarray):
        return None
    names = list(columns)
    return None if names == list(range(len(names))) else read_classes(names)


def read_classes(classes: Any) -> tuple[str, ...]:
    """Names of classes, which may be numbers or truth values too."""
    if isinstance(classes, str) or not hasattr(classes, "__iter__"):
        raise InputError("classes must be a list of names.")
    return check_names(tuple(spelled(name) for name in as_array(list(classes)).tolist()), "classes")


def read_texts(values: Any, records: int, what: str) -> list[str]:
    """One text for each record, '' where it is missing."""
    found = as_array(values)
    if found.ndim != 1 or len(found) != records:
        raise InputError(f"{what}: expected one for each of the {records} records.")
    return [spelled(value) for value in found.tolist()]


def read_numbers(values: Any, what: str) -> np.ndarray:
    """Finite numbers as float64."""
    try:
        found = as_array(values)
        if found.dtype.kind not in "biuf" and found.size:
            found = found.astype(np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{what}: expected numbers only.") from None
    found = np.array(found, dtype=np.float64)
    if not np.isfinite(found).all():
        raise InputError(f"{what}: a value is missing or not a finite number; remove or repair it.")
    return found


def read_labels(labels: Any, records: int, classes: Sequence[str]) -> np.ndarray:
    """True classes as column numbers: by name, by number, categorical or as truth values, one per record."""
    found, location = as_array(labels), Location("labels")
    if found.ndim != 1 or len(found) != records:
        raise InputError(f"{location.source}: expected one label for each of the {records} records.")
    lookup = label_lookup(tuple(classes))
    if found.dtype.kind == "b" and min(lookup("True"), lookup("False")) < 0:
        found = found.astype(np.int64)
    by_place = tuple(classes) == numbered(len(classes)) or not any(name.isdigit() for name in classes)
    if found.dtype.kind in "iu" and by_place:
        last = len(classes) - 1
        refuse_first((found < 0) | (found > last), location, f"the label is no column number from 0 to {last}")
        return found.astype(np.int64)
    texts = [spelled(label) for label in found.tolist()]
    numbers = {text: lookup(text) for text in set(texts)}
    places = np.array([numbers[text] for text in texts], dtype=np.int64)
    refuse_first(places < 0, location, f"the label is missing or none of the classes {listed(classes)}")
    return places


def label_lookup(classes: tuple[str, ...], in_file: tuple[str, ...] | None = None) -> Callable[[str], int]:
    """From a label to a column number: by class name, in any case of letters, or by position where no class is a
    number; −1 where it is none of them. `in_file`: the classes in the order of the file, by which it numbers them.

    Each label on its own: what one record says must not change how another is read."""
    classes = tuple(unicodedata.normalize("NFC", name) for name in classes)
    places = classes if in_file is None else tuple(unicodedata.normalize("NFC", name) for name in in_file)
    by_place = () if any(name.isdigit() for name in classes) else places
    numbers = {str(place): classes.index(name) for place, name in enumerate(by_place)}
    numbers |= {name.casefold(): i for i, name in reversed(list(enumerate(classes)))}
    numbers |= {name: i for i, name in enumerate(classes)}

    def lookup(label: str) -> int:
        """In any case of letters, as pandas writes whole numbers beside missing ones, or quoted for spreadsheets."""
        label = unicodedata.normalize("NFC", label)
        spellings = label, label.casefold(), re.sub(r"\.0$", "", label), unquoted(label)
        return next((numbers[name] for name in spellings if name in numbers), -1)

    return lookup


def spelled(value: object) -> str:
    """A label or patient as text: whole numbers alike as 3 and 3.0, '' where it is missing or not a number."""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    if type(value).__name__ in MISSING:
        return ""
    return "" if value != value else str(value).strip()


def numbered(count: int) -> tuple[str, ...]:
    """Names for classes of which only the number is known."""
    return tuple(map(str, range(count)))
