"""Score files of any size, read batch by batch: a folder of Parquet parts, one Parquet file, or one CSV."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ppsets_core.data.columns import MAX_BYTES, Columns
from ppsets_core.data.delimited_blocks import read_blocks
from ppsets_core.data.parquet_parts import describe, has_parts, list_parts, read_batches
from ppsets_core.data.parts import check_split, rows_of_part
from ppsets_core.data.records import Records
from ppsets_core.data.score_file import records_of
from ppsets_core.errors import FileError, InputError
from ppsets_core.files.column_names import SEEN, TEXT
from ppsets_core.files.names import shown_name

ROWS_AT_ONCE = 2_000_000  # what one worker is given
PARQUET = b"PAR1"
SPLIT = "split"


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

    `rows`: how many records there are, None where it takes reading to know: of a CSV, and where a column `split` says
    which rows are used. `names`: the columns in their order. `first_model`: what the first row says of its model.
    """

    source: str
    tasks: tuple[tuple[RowRange, ...], ...]
    rows: int | None
    names: tuple[str, ...]
    group: str | None
    split: str | None
    classes: tuple[str, ...]
    model: str | None
    first_model: str | None

    @property
    def has_patients(self) -> bool:
        return "patient" in self.names

    def batches(self, task: Sequence[RowRange]) -> Iterator[Records]:
        """The records of a task, checked as `read_scores` checks them."""
        for columns in self.columns(task, [name for name in self.names if name != SPLIT]):
            try:
                yield records_of(columns, self.group, self.first_model)
            except InputError as error:
                raise error if isinstance(error, FileError) else FileError(str(error)) from None

    def columns(self, task: Sequence[RowRange], wanted: Sequence[str]) -> Iterator[Columns]:
        """Some columns of a task, as they stand there."""
        splits = [SPLIT] if SPLIT in self.names else []
        for stretch in task:
            for columns in read_stretch(stretch, (*wanted, *splits), _texts(self.group)):
                if (used := rows_of_part(columns, self.split)) is not None:
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


def open_data_set(path: str | Path, *, group: str | None = None, split: str | None = None) -> DataSet:
    """Look at the parts, and at the first rows; every part must have the same columns.

    `group` names a column that says each record's group, such as its site. `split`: only this part of the rows; those
    of the training part are never used.
    """
    found = scan(path, _texts(group))
    return _opened(found.source, found.tasks, found.rows, (group, split), found.names)


@dataclass(frozen=True)
class Layout:
    """Where the rows of a data set lie: see `DataSet`, whose names are these."""

    source: str
    tasks: tuple[tuple[RowRange, ...], ...]
    rows: int | None
    names: tuple[str, ...]


def scan(path: str | Path, texts: frozenset[str], rows_at_once: int | None = None) -> Layout:
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
    most = rows_at_once or ROWS_AT_ONCE
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


def _opened(
    source: str,
    tasks: tuple[tuple[RowRange, ...], ...],
    rows: int | None,
    asked: tuple[str | None, str | None],
    names: tuple[str, ...],
) -> DataSet:
    """With what the first batch says, which is checked by the way."""
    group, split = asked
    check_split(source, split)
    opened = DataSet(source, tasks, rows, names, group, split, (), None, None)
    head = next((columns for stretch in tasks[0] for columns in read_stretch(stretch, names, _texts(group))), None)
    if head is None:
        raise FileError(f"{source}: it is empty. At least one record is needed.")
    if split is not None and SPLIT not in head.values:
        raise FileError(f"{source}: there is no column 'split' that says which part each row is of.")
    names = tuple(name for name in head.values if name != SPLIT)
    has_splits = SPLIT in head.values
    opened = replace(opened, names=(*names, *([SPLIT] if has_splits else [])), rows=None if has_splits else rows)
    first = next((columns for task in tasks for columns in opened.columns(task, names)), None)
    if first is None:
        raise FileError(
            f"{source}: there is no row that may be used: {f'none of the part {split!r}' if split else SEEN}."
        )
    models = first.values.get("model")
    first_model = None if models is None else str(models[0])
    try:
        records = records_of(first, group, first_model)
    except InputError as error:
        raise error if isinstance(error, FileError) else FileError(str(error)) from None
    return replace(opened, classes=records.classes, model=records.model, first_model=first_model)


def read_stretch(stretch: RowRange, wanted: tuple[str, ...], texts: frozenset[str]) -> Iterator[Columns]:
    if stretch.groups is None:
        yield from read_blocks(stretch.path, stretch.source, texts)
    else:
        yield from read_batches(stretch.path, stretch.source, stretch.groups, stretch.first_row, wanted, texts)


def _texts(group: str | None) -> frozenset[str]:
    return TEXT if group is None else TEXT | {group}


def _is_parquet(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(PARQUET)) == PARQUET
