"""`read_new_patients`: a model's probabilities for patients to be told a set, with or without their true diagnoses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

import numpy as np

from ppsets_core.data.columns import INDEX, TEXTS, Columns, brief_name, check_names
from ppsets_core.data.parts import are_training, usable_rows
from ppsets_core.data.records import Records
from ppsets_core.data.score_file import label_numbers, model_of, novelty_of, patients_in, read_columns
from ppsets_core.errors import FileError, InputError
from ppsets_core.files.column_names import IGNORED, RESERVED, TEXT
from ppsets_core.files.handles import FileLike
from ppsets_core.method.sets import conformity_scores
from ppsets_core.validation import Location, check_probabilities

IDENTIFIERS = ("id", "file", "patient", "index")


@dataclass(frozen=True, eq=False)
class NewPatients:
    """One entry per row of the file, in its order.

    `identifiers`: the file's own columns that say whose row it is, else the number of the row. `labels`: the true
    diagnosis as a column number, −1 where it is missing or none of the classes; None where the file has none at all.
    """

    source: str
    classes: tuple[str, ...]
    probabilities: np.ndarray
    identifiers: Mapping[str, np.ndarray]
    labels: np.ndarray | None = None
    patients: np.ndarray | None = None
    splits: np.ndarray | None = None
    novelty: np.ndarray | None = None
    groups: Mapping[str, np.ndarray] = field(default_factory=lambda: MappingProxyType({}))
    model: str | None = None

    def __len__(self) -> int:
        return len(self.probabilities)

    def checkable(self) -> np.ndarray:
        """The rows to check sets with: their diagnosis is known, and the model has not learnt from them."""
        if self.labels is None:
            return np.empty(0, dtype=np.int64)
        seen = False if self.splits is None else are_training(self.splits)
        return np.flatnonzero((self.labels >= 0) & np.logical_not(seen))

    def records(self) -> Records:
        """Those rows as records, as a private check needs them."""
        if self.labels is None or not len(rows := self.checkable()):
            raise InputError(f"{self.source}: no row has a `label` that is one of {', '.join(self.classes[:20])}.")
        probabilities, labels = self.probabilities[rows], self.labels[rows]
        scores = conformity_scores(probabilities, labels)
        return Records(
            self.source,
            scores,
            scores,
            self.classes,
            probabilities,
            labels,
            None if self.patients is None else self.patients[rows],
            self.model,
            {name: values[rows] for name, values in self.groups.items()},
        )


def read_new_patients(
    file: bytes | str | Path | FileLike,
    name: str | None = None,
    *,
    classes: Sequence[str] = (),
    group: str | None = None,
    split: str | None = None,
) -> NewPatients:
    """A table in any of a score file's formats: a probability column for each class, the rest optional.

    `classes`: the calibration's, found by name in any order, other numbers being passed over; without them every column
    of numbers is a class. `group`: the column that says each patient's group. `split`: only this part of the rows.
    """
    try:
        columns = read_columns(file, name, texts_with(group))
        if split is not None:
            columns, _ = usable_rows(columns, split)
        return new_patients_of(columns, tuple(classes), group)
    except InputError as error:
        raise error if isinstance(error, FileError) else FileError(str(error)) from None


def texts_with(group: str | None) -> frozenset[str]:
    """The columns that are read as text."""
    return TEXT | set(IDENTIFIERS) | ({group} if group else set())


def new_patients_of(
    columns: Columns, wanted: tuple[str, ...], group: str | None, first_model: str | None = None
) -> NewPatients:
    """What columns mean; `first_model` is what the first row of a data set says, where these are not its first rows."""
    place, values = columns.location, columns.values
    if group is not None and group not in values:
        raise FileError(f"{place.source}: there is no column '{brief_name(group)}' that says each patient's group.")
    names = _class_columns(columns, wanted, group)
    classes = tuple(brief_name(name) for name in names)
    check_names(classes, place.source)
    where = Location(place.source, place.row, rows=place.rows, columns=classes)
    probabilities = check_probabilities(np.column_stack([values[name] for name in names]), where)
    in_file = tuple(name for name in values if name in names)
    return NewPatients(
        place.source,
        classes,
        probabilities,
        _identifiers(columns, len(probabilities)),
        label_numbers(values["label"], tuple(names), in_file) if "label" in values else None,
        patients_in(values),
        values.get("split"),
        novelty_of(columns),
        {} if group is None else {group: values[group]},
        model_of(columns, first_model),
    )


def _class_columns(columns: Columns, wanted: tuple[str, ...], group: str | None) -> list[str]:
    other = RESERVED | IGNORED | ({group} if group else set())
    numeric = {
        brief_name(name): name
        for name, column in columns.values.items()
        if name not in other and not INDEX.fullmatch(name) and column.dtype.kind == "f"
    }
    source = columns.location.source
    if missing := [name for name in wanted if name not in numeric]:
        raise FileError(
            f"{source}: the calibration is for {len(wanted)} diagnoses and there is no column of probabilities for "
            f"{_listed(missing)}; found are {_listed(list(numeric)) or 'none'}. Use the calibration of the model that "
            "gave these probabilities, or name the columns as the calibration does."
        )
    if len(numeric) < 2:
        raise FileError(f"{source}: there is no probability for each of two or more diagnoses. Give a column for each.")
    return [numeric[name] for name in wanted] if wanted else list(numeric.values())


def _identifiers(columns: Columns, rows: int) -> dict[str, np.ndarray]:
    found = {name: columns.values[name] for name in IDENTIFIERS if name in columns.values}
    if found:
        return found
    place = columns.location
    return {place.row: np.array(range(1, rows + 1) if place.rows is None else place.rows).astype(TEXTS)}


def _listed(names: Sequence[str], most: int = 5) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
