"""Score files of any size, read batch by batch: a folder of Parquet parts, one Parquet file, or one CSV."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ppsets_core.data.columns import MAX_BYTES, TEXTS, Columns
from ppsets_core.data.delimited_blocks import read_blocks
from ppsets_core.data.parquet_parts import describe, has_parts, list_parts, read_batches
from ppsets_core.data.parts import are_training, check_split, rows_of_part, some_rows
from ppsets_core.data.records import Records
from ppsets_core.data.score_file import IDENTIFIERS, Labels, as_file_errors, label_numbers, records_of, texts_with
from ppsets_core.errors import FileError
from ppsets_core.files.column_names import SEEN
from ppsets_core.files.names import shown_name

ROWS_AT_ONCE = 2_000_000  # what one worker is given
SETS_AT_ONCE = 200_000  # of new patients: sets take longer to write than scores to count
PARQUET = b"PAR1"
SPLIT, PART = "split", "part"


@dataclass(frozen=True)
class RowRange:
    """Neighbouring rows of one part: row groups of a Parquet file, or all of a CSV (no row groups)."""

    path: Path
    source: str
    groups: range | None
    first_row: int = 0


@dataclass(frozen=True)
class DataSet:
    """What `open_data_set` found, none of it in memory. `tasks`: stretches that are read in one go, in order.

    `rows`: how many records there are, None where it takes reading to know: of a CSV, where a column `split` says
    which rows are used, and where labels are optional. `names`: the columns in their order. `wanted`: the classes asked
    for. `first_model`: what the first row says of its model. `in_parts`: a row's number needs the name of its part.
    """

    source: str
    tasks: tuple[tuple[RowRange, ...], ...]
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
                    yield some_rows(columns, np.flatnonzero(usable))

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
        for stretch in task:
            for columns in read_stretch(stretch, needed, texts):
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
    found = scan(path, texts, ROWS_AT_ONCE if needed else SETS_AT_ONCE)
    source, tasks = found.source, found.tasks
    check_split(source, split)
    head = next((columns for stretch in tasks[0] for columns in read_stretch(stretch, found.names, texts)), None)
    if head is None:
        raise FileError(f"{source}: it is empty. At least one record is needed.")
    if split is not None and SPLIT not in head.values:
        raise FileError(f"{source}: there is no column 'split' that says which part each row is of.")
    rows = found.rows if needed and SPLIT not in head.values else None
    asked = (group, split, labels, tuple(classes), Path(path).is_dir())
    opened = DataSet(source, tasks, rows, tuple(head.values), *asked)
    first = next((columns for task in tasks for columns in opened._all_columns(task, opened.names)), None)
    if first is None:
        raise FileError(
            f"{source}: there is no row that may be used: {f'none of the part {split!r}' if split else SEEN}."
        )
    models = first.values.get("model")
    opened = replace(opened, first_model=None if models is None else str(models[0]))
    records = opened.records_of(first)
    return replace(opened, classes=records.classes, model=records.model)


@dataclass(frozen=True)
class Layout:
    """Where the rows of a data set lie: see `DataSet`, whose names are these."""

    source: str
    tasks: tuple[tuple[RowRange, ...], ...]
    rows: int | None
    names: tuple[str, ...]


def scan(path: str | Path, texts: frozenset[str], most: int) -> Layout:
    """Look at the parts, every one of which must have the same columns; of text are only `texts` read."""
    path = Path(path).absolute()
    source = shown_name(path.name)
    try:
        if not path.exists():
            raise FileError(f"{source}: there is no such file or folder.")
        if not path.is_dir() and not _is_parquet(path):
            return Layout(source, ((RowRange(path, source, None),),), None, ())
        parts = list_parts(path) if path.is_dir() else [(path, source)]
    except OSError as error:
        raise FileError(f"{source}: it cannot be opened ({error.strerror}).") from None
    kinds: dict[str, bool] = {}
    tasks: list[list[RowRange]] = [[]]
    waiting = total = 0
    for part, name in parts:
        found, groups = describe(part, name)
        kinds = kinds or found
        if found != kinds:
            raise FileError(f"{name}: its columns are not those of {parts[0][1]}; give every part the same.")
        for stretch, rows in _stretches(part, name, groups, most):
            if waiting and waiting + rows > most:
                tasks.append([])
                waiting = 0
            tasks[-1].append(stretch)
            waiting, total = waiting + rows, total + rows
    if not total:
        raise FileError(f"{source}: it is empty. At least one record is needed.")
    wanted = tuple(name for name, is_text in kinds.items() if not is_text or name in texts)
    return Layout(source, tuple(map(tuple, tasks)), total, wanted)


def _stretches(path: Path, name: str, groups: list[int], most: int) -> Iterator[tuple[RowRange, int]]:
    """A part's row groups, as many at once as a worker is given, and how many rows they have."""
    first = before = rows = 0
    for number, size in enumerate(groups):
        if rows and rows + size > most:
            yield RowRange(path, name, range(first, number), before), rows
            first, before, rows = number, before + rows, 0
        rows += size
    if rows:
        yield RowRange(path, name, range(first, len(groups)), before), rows


def read_stretch(stretch: RowRange, wanted: tuple[str, ...], texts: frozenset[str]) -> Iterator[Columns]:
    if stretch.groups is None:
        yield from read_blocks(stretch.path, stretch.source, texts)
    else:
        yield from read_batches(stretch.path, stretch.source, stretch.groups, stretch.first_row, wanted, texts)


def _is_parquet(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(PARQUET)) == PARQUET
