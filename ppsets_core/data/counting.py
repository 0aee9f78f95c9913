"""Counting a data set: all that a release needs of it is how many scores lie in each bin, and counts add up."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Protocol

import numpy as np

from ppsets_core.data.one_each import choose_rows, patient_hashes
from ppsets_core.data.records import Records, chosen
from ppsets_core.data.source import RowRange, Source
from ppsets_core.errors import FileError
from ppsets_core.method.bins import BinCounter
from ppsets_core.method.plan import DIAGNOSIS, Plan
from ppsets_core.progress import Progress
from ppsets_core.run import IN_PROCESS, Executor, map_tasks, sum_tasks


class Gathering(Protocol):
    """Who the records are, batch by batch: `total` is what the ledger knows them by, and totals add up."""

    def add(self, records: Records) -> None: ...

    def total(self) -> Any: ...


Identify = Callable[[], Gathering]
MOST_ROWS_OF_PATIENTS = 10**8
"""One record of each patient is chosen in memory, from 16 bytes a row."""
CHANGED = "{source}: it changed while it was read. Nothing was released; try again."


@dataclass(frozen=True, eq=False)
class Chosen:
    """A data set with the rows of it that are used: all, or one of each patient. `kept` says which, task by task."""

    data_set: Source
    n: int
    read: int
    patient_count: int | None = None
    unit: str = "record"
    kept: tuple[np.ndarray, ...] | None = None

    def __len__(self) -> int:
        return self.n

    @property
    def source(self) -> str:
        return self.data_set.source

    @property
    def classes(self) -> tuple[str, ...]:
        return self.data_set.classes

    @property
    def model(self) -> str | None:
        return self.data_set.model

    @property
    def has_patients(self) -> bool:
        return self.data_set.has_patients

    @property
    def has_novelty(self) -> bool:
        return "novelty" in self.data_set.names


@dataclass(frozen=True, eq=False)
class Tally:
    """What a task's records come to. `counts`: a row for each diagnosis or group, or one for all; a column a bin.

    `novelty`: the same of how familiar each is, in the bins that τ̂ is drawn from. `rows`: how many there are, used
    or not. `people`: who they are, as the ledger knows them; whatever it is, it adds up."""

    rows: int
    people: Any
    counts: np.ndarray
    novelty: np.ndarray

    def __add__(self, other: "Tally") -> "Tally":
        sums = (getattr(self, one.name) + getattr(other, one.name) for one in fields(self))
        return Tally(*sums)


@dataclass(frozen=True, eq=False)
class Counted:
    """Records of which only counts are kept: what a release needs, and all that it needs."""

    source: str
    n: int
    classes: tuple[str, ...]
    model: str | None
    unit: str
    people: Any
    plan: Plan
    counts: np.ndarray
    novelty: np.ndarray

    def __len__(self) -> int:
        return self.n

    def is_for(self, plan: Plan) -> bool:
        """Whether they were counted as this plan needs it."""
        return _binning(plan) == _binning(self.plan)


def choose(
    data_set: Source, *, all_records: bool = False, executor: Executor = IN_PROCESS, progress: Progress | None = None
) -> Chosen:
    """Choose the records to use: one of each patient where patients are named, unless all are wanted.

    The choice is made here from hashes of the names, 16 bytes a row.
    """
    tasks = [(replace(data_set, tasks=()), task) for task in data_set.tasks]
    if all_records or not data_set.has_patients:
        rows = sum_tasks(count_rows, tasks, executor, progress) if data_set.rows is None else data_set.rows
        return Chosen(data_set, rows, rows)
    found = []
    for hashes in map_tasks(patient_hashes, tasks, executor, progress):
        found.append(hashes)
        if sum(map(len, found)) > MOST_ROWS_OF_PATIENTS:
            raise FileError(
                f"{data_set.source}: more than {MOST_ROWS_OF_PATIENTS:,} rows to choose one record of each patient "
                "from. Split it, or choose beforehand and use --all-records."
            )
    kept = choose_rows(np.concatenate(found))
    ends = np.cumsum([len(hashes) for hashes in found])[:-1]
    return Chosen(data_set, int(kept.sum()), len(kept), int(kept.sum()), "patient", tuple(np.split(kept, ends)))


def count(
    records: Chosen,
    plan: Plan,
    identify: Identify,
    *,
    executor: Executor = IN_PROCESS,
    progress: Progress | None = None,
) -> Counted:
    """Read everything once: check every row, count the chosen ones as the plan needs it, and who they are."""
    described = replace(records.data_set, tasks=())
    masks = records.kept or [None] * len(records.data_set.tasks)
    tasks = [(described, task, plan, identify, kept) for task, kept in zip(records.data_set.tasks, masks, strict=True)]
    total = sum_tasks(tally_task, tasks, executor, progress)
    if total.rows != records.read:
        raise FileError(CHANGED.format(source=records.source))
    of = records.data_set
    return Counted(
        of.source, records.n, of.classes, of.model, records.unit, total.people, plan, total.counts, total.novelty
    )


def tally_task(
    data_set: Source, task: Sequence[RowRange], plan: Plan, identify: Identify, kept: np.ndarray | None
) -> Tally:
    """The counts and the people of one task's records."""
    tallying = Tallying(plan, identify)
    tallying.add_task(data_set, task, kept)
    return tallying.total()


class Tallying:
    """A tally as it grows, task by task, in the same memory."""

    def __init__(self, plan: Plan, identify: Identify) -> None:
        self._plan, self._people, self._rows = plan, identify(), 0
        self._counters = [BinCounter(plan.m) for _ in range(plan.groups)]
        self._familiar = BinCounter(plan.novelty.m if plan.novelty is not None else 1)

    def add_task(self, data_set: Source, task: Sequence[RowRange], kept: np.ndarray | None) -> None:
        """`kept` says which of the task's rows are used; None for all."""
        before = self._rows
        for batch in data_set.batches(task):
            first = self._rows - before
            used = batch if kept is None else chosen(batch, np.flatnonzero(kept[first : first + len(batch)]))
            self._people.add(used)
            for counter, scores in zip(self._counters, parts_of(used, self._plan), strict=True):
                counter.add(scores)
            if self._plan.novelty is not None and used.novelty is not None:
                self._familiar.add(used.novelty)
            self._rows += len(batch)

    def total(self) -> Tally:
        counts = np.stack([counter.total() for counter in self._counters])
        return Tally(self._rows, self._people.total(), counts, self._familiar.total())


def parts_of(records: Records, plan: Plan) -> list[np.ndarray]:
    """The scores of each diagnosis or group, some of which may have none; a record of no named group is in no part."""
    if plan.per is None:
        return [records.scores]
    if plan.per == DIAGNOSIS:
        return [records.scores[records.labels == number] for number in range(plan.groups)]
    return [records.scores[records.groups[str(plan.per)] == name] for name in plan.group_names]


def _binning(plan: Plan) -> tuple[object, ...]:
    familiar = None if plan.novelty is None else plan.novelty.m
    return plan.n, plan.m, plan.per, plan.groups, plan.group_names, familiar


def count_rows(data_set: Source, task: Sequence[RowRange]) -> int:
    return sum(len(batch) for batch in data_set.batches(task))
