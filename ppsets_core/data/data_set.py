"""Records of any number, read batch by batch from a file or a folder of parts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ppsets_core.data.columns import TEXTS, Columns
from ppsets_core.data.parts import are_training, check_split, rows_of_part
from ppsets_core.data.reader import EMPTY, MAX_BYTES, RowRange, Task, has_parts, read_rows, scan
from ppsets_core.data.records import Records
from ppsets_core.data.score_file import IDENTIFIERS, Labels, as_file_errors, label_numbers, records_of, texts_with
from ppsets_core.errors import FileError
from ppsets_core.files.column_names import SEEN

ROWS_AT_ONCE = 2_000_000  # what one worker is given
SETS_AT_ONCE = 200_000  # of new patients: sets take longer to write than scores to count
SPLIT, PART = "split", "part"


@dataclass(frozen=True)
class DataSet:
    """What `open_data_set` found, none of it in memory. `tasks`: the rows that are read in one go, in order.

    `rows`: how many records there are, None where it takes reading to know: of a CSV, where a column `split` says
    which rows are used, and where labels are optional. `names`: the columns in their order. `wanted`: the classes asked
    for. `first_model`: what the first row says of its model. `in_parts`: a row's number needs the name of its part.
    """

    source: str
    tasks: tuple[Task, ...]
    rows: int | None
    names: tuple[str, ...]
    group: str | None
    split: str | None
    labels: Labels
    wanted: tuple[str, ...]
    in_parts: bool
    classes: tuple[str, ...] = ()
    model: str | None = None
    first_model: str | None = None

    @property
    def has_patients(self) -> bool:
        return "patient" in self.names

    def batches(self, task: Sequence[RowRange]) -> Iterator[Records]:
        """The records of a task whose true diagnosis is known, checked as `read_scores` checks them."""
        if self.labels == "needed":
            return self.all_batches(task)
        return (found.labelled() for found in self.all_batches(task) if len(found.checkable()))

    def all_batches(self, task: Sequence[RowRange]) -> Iterator[Records]:
        """All records of a task, their true diagnosis known or not."""
        return map(self.records_of, self._all_columns(task, self.names))

    def columns(self, task: Sequence[RowRange], wanted: Sequence[str]) -> Iterator[Columns]:
        """Some columns of the rows of `batches`, as they stand there."""
        if self.labels == "needed":
            yield from self._all_columns(task, wanted)
        elif "label" in self.names:
            for columns in self._all_columns(task, (*wanted, "label")):
                usable = label_numbers(columns.values["label"], self.classes) >= 0
                if SPLIT in columns.values:
                    usable &= ~are_training(columns.values[SPLIT])
                if usable.any():
                    yield columns.take(np.flatnonzero(usable))

    def records_of(self, columns: Columns) -> Records:
        """What columns of this data set mean."""
        with as_file_errors():
            found = records_of(
                columns, classes=self.wanted, group=self.group, labels=self.labels, first_model=self.first_model
            )
        if not self.in_parts or not found.identifiers or any(name in found.identifiers for name in IDENTIFIERS):
            return found
        part = np.full(len(found), found.source, dtype=object).astype(TEXTS)
        return replace(found, identifiers={PART: part, **found.identifiers})

    def _all_columns(self, task: Sequence[RowRange], wanted: Sequence[str]) -> Iterator[Columns]:
        texts = texts_with(self.group, self.labels)
        needed = tuple(dict.fromkeys([*wanted, *([SPLIT] if SPLIT in self.names else [])]))
        for rows in task:
            for columns in read_rows(rows, needed, texts):
                used = rows_of_part(columns, self.split, training=self.labels == "optional")
                if used is not None:
                    yield used


def is_large(path: str | Path) -> bool:
    """Whether it takes a data set: a folder, or a file that `read_scores` refuses for its size."""
    path = Path(path)
    try:
        return path.is_dir() or (path.is_file() and path.stat().st_size > MAX_BYTES)
    except OSError:
        return False


def is_data_set(path: str | Path) -> bool:
    """Whether it is a folder that holds Parquet, or a file of records too large to be read at once."""
    path = Path(path)
    return is_large(path) and (not path.is_dir() or has_parts(path))


def open_data_set(
    path: str | Path,
    *,
    classes: Sequence[str] = (),
    group: str | None = None,
    split: str | None = None,
    labels: Labels = "needed",
) -> DataSet:
    """Look at the parts, and at the first rows, by the arguments of `read_scores`; every part must have the same
    columns."""
    needed, texts = labels == "needed", texts_with(group, labels)
    found = scan(path, texts, classes, ROWS_AT_ONCE if needed else SETS_AT_ONCE)
    source, tasks = found.source, found.tasks
    check_split(source, split)
    if split is not None and SPLIT not in found.names:
        raise FileError(f"{source}: there is no column 'split' that says which part each row is of.")
    rows = found.rows if needed and SPLIT not in found.names else None
    asked = (group, split, labels, tuple(classes), Path(path).is_dir())
    opened = DataSet(source, tasks, rows, found.names, *asked)
    first = next((columns for task in tasks for columns in opened._all_columns(task, opened.names)), None)
    if first is None and SPLIT not in found.names:
        raise FileError(EMPTY.format(source=source))
    if first is None:
        raise FileError(
            f"{source}: there is no row that may be used: {f'none of the part {split!r}' if split else SEEN}."
        )
    models = first.values.get("model")
    opened = replace(opened, first_model=None if models is None else str(models[0]))
    records = opened.records_of(first)
    return replace(opened, classes=records.classes, model=records.model)
