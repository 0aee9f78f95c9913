"""A model's probabilities for any number of new patients, read batch by batch as `read_new_patients` reads a table."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ppsets_core.data.columns import TEXTS, Columns
from ppsets_core.data.data_set import DataSet, RowRange, read_stretch, scan
from ppsets_core.data.new_patients import IDENTIFIERS, NewPatients, new_patients_of, texts_with
from ppsets_core.data.parts import are_training, check_split
from ppsets_core.data.records import Records
from ppsets_core.data.score_file import label_numbers
from ppsets_core.errors import FileError, InputError
from ppsets_core.validation import Location

ROWS_AT_ONCE = 200_000  # what one worker is given: sets take longer to write than scores to count
PART, SPLIT = "part", "split"


@dataclass(frozen=True)
class PatientDataSet(DataSet):
    """What `open_new_patients` found. `has_parts`: whether a row's number tells it only together with its part."""

    wanted: tuple[str, ...] = ()
    has_parts: bool = False

    def patients(self, task: Sequence[RowRange]) -> Iterator[NewPatients]:
        """All rows of a task, checked as `read_new_patients` checks them."""
        return map(self._meaning, self._all_columns(task, self.names))

    def batches(self, task: Sequence[RowRange]) -> Iterator[Records]:
        """The records that sets can be checked with."""
        return (found.records() for found in self.patients(task) if len(found.checkable()))

    def columns(self, task: Sequence[RowRange], wanted: Sequence[str]) -> Iterator[Columns]:
        """Some columns of those rows that sets can be checked with, as `NewPatients.checkable` finds them."""
        if "label" not in self.names:
            return
        needed = dict.fromkeys([*wanted, "label", *([SPLIT] if SPLIT in self.names else [])])
        for columns in self._all_columns(task, tuple(needed)):
            usable = label_numbers(columns.values["label"], self.classes) >= 0
            if SPLIT in columns.values:
                usable &= ~are_training(columns.values[SPLIT])
            if usable.any():
                yield _some(columns, np.flatnonzero(usable))

    def _all_columns(self, task: Sequence[RowRange], wanted: tuple[str, ...]) -> Iterator[Columns]:
        for stretch in task:
            for columns in read_stretch(stretch, wanted, texts_with(self.group)):
                if self.split is None:
                    yield columns
                elif len(kept := np.flatnonzero(columns.values[SPLIT] == self.split)):
                    yield _some(columns, kept)

    def _meaning(self, columns: Columns) -> NewPatients:
        try:
            found = new_patients_of(columns, self.wanted, self.group, self.first_model)
        except InputError as error:
            raise error if isinstance(error, FileError) else FileError(str(error)) from None
        if not self.has_parts or any(name in found.identifiers for name in IDENTIFIERS):
            return found
        part = np.full(len(found), found.source, dtype=object).astype(TEXTS)
        return replace(found, identifiers={PART: part, **found.identifiers})


def open_new_patients(
    path: str | Path, *, classes: Sequence[str] = (), group: str | None = None, split: str | None = None
) -> PatientDataSet:
    """Look at the parts and at the first rows; the arguments are those of `read_new_patients`."""
    layout = scan(path, texts_with(group), ROWS_AT_ONCE)
    check_split(layout.source, split)
    opened = PatientDataSet(
        layout.source,
        layout.tasks,
        None,
        layout.names,
        group,
        split,
        (),
        None,
        None,
        tuple(classes),
        Path(path).is_dir(),
    )
    head = next(
        (one for stretch in layout.tasks[0] for one in read_stretch(stretch, layout.names, texts_with(group))), None
    )
    if head is None:
        raise FileError(f"{layout.source}: it is empty. At least one record is needed.")
    if split is not None and SPLIT not in head.values:
        raise FileError(f"{layout.source}: there is no column 'split' that says which part each row is of.")
    opened = replace(opened, names=tuple(head.values))
    first = next((one for task in layout.tasks for one in opened._all_columns(task, opened.names)), None)
    if first is None:
        raise FileError(f"{layout.source}: there is no row of the part '{split}'.")
    models = first.values.get("model")
    opened = replace(opened, first_model=None if models is None else str(models[0]))
    found = opened._meaning(first)
    return replace(opened, classes=found.classes, model=found.model)


def _some(columns: Columns, kept: np.ndarray) -> Columns:
    place = columns.location
    lines = range(1, len(next(iter(columns.values.values()))) + 1) if place.rows is None else place.rows
    return Columns(
        Location(place.source, place.row, rows=[lines[row] for row in kept.tolist()]),
        {name: column[kept] for name, column in columns.values.items()},
    )
