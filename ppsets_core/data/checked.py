"""Sets held against true diagnoses, as counts: all that a check needs of the records, and counts add up."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ppsets_core.data.counting import CHANGED, Chosen, Identify
from ppsets_core.data.records import Records, chosen
from ppsets_core.data.source import RowRange, Source
from ppsets_core.errors import FileError, InputError
from ppsets_core.method.calibration import Drawn
from ppsets_core.method.sets import coverage_counts, prediction_sets
from ppsets_core.progress import Progress
from ppsets_core.run import IN_PROCESS, Executor, sum_tasks


@dataclass(frozen=True, eq=False)
class Checked:
    """How many of each diagnosis (a row) had it in their set or not, by the size of the set (a column, from 0).

    `groups`: of each group with a threshold of its own the covered and the missed. `read`: how many rows there were,
    with or without a known diagnosis. `people`: who the others are, as the ledger knows them, where it is to know."""

    source: str
    calibration: Drawn
    classes: tuple[str, ...]
    model: str | None
    unit: str
    read: int
    people: Any
    covered: np.ndarray
    missed: np.ndarray
    groups: np.ndarray

    def __len__(self) -> int:
        return int(self.covered.sum() + self.missed.sum())

    def __add__(self, other: "Checked") -> "Checked":
        return replace(
            self,
            read=self.read + other.read,
            people=None if self.people is None else self.people + other.people,
            covered=self.covered + other.covered,
            missed=self.missed + other.missed,
            groups=self.groups + other.groups,
        )


def check_sets(records: Records, calibration: Drawn) -> tuple[Checked, np.ndarray]:
    """The counts of some records, and whether each is covered."""
    if records.probabilities is None or records.labels is None:
        raise InputError(f"{records.source}: a check needs a probability for each diagnosis and the true one as label.")
    own = records.groups[str(calibration.per)] if calibration.group_names else None
    names = None if own is None else own.tolist()
    members = prediction_sets(records.probabilities, calibration, classes=records.classes, groups=names)
    covered, missed = coverage_counts(members, records.labels)
    inside = members[np.arange(len(records)), records.labels]
    groups = [
        [int((inside & (own == name)).sum()), int((~inside & (own == name)).sum())] for name in calibration.group_names
    ]
    facts = (records.source, calibration, records.classes, records.model, records.unit, len(records), None)
    return Checked(*facts, covered, missed, np.array(groups, dtype=np.int64).reshape(-1, 2)), inside


def check_data_set(
    of: Source | Chosen,
    calibration: Drawn,
    identify: Identify | None = None,
    *,
    executor: Executor = IN_PROCESS,
    progress: Progress | None = None,
) -> Checked:
    """The sets of a data set's labelled patients, or of some chosen of them, against their diagnoses.

    `identify` makes of batches of records what the ledger knows them by, for a check that is released."""
    described = replace(_data_set(of), tasks=())
    kept = (of.kept if isinstance(of, Chosen) else None) or [None] * len(_data_set(of).tasks)
    given = [
        (described, task, calibration, identify, rows) for task, rows in zip(_data_set(of).tasks, kept, strict=True)
    ]
    total = sum_tasks(check_task, given, executor, progress)
    if not len(total):
        raise InputError(f"{of.source}: no row has a `label` that is one of {', '.join(of.classes[:20])}.")
    if not isinstance(of, Chosen):
        return total
    if len(total) != of.n:
        raise FileError(CHANGED.format(source=of.source))
    return replace(total, unit=of.unit)


def check_task(
    data_set: Source,
    task: Sequence[RowRange],
    calibration: Drawn,
    identify: Identify | None,
    kept: np.ndarray | None,
) -> Checked:
    """The counts of one task's records; `kept` says which of those with a known diagnosis are used."""
    people = None if identify is None else identify()
    number, groups = len(data_set.classes), np.zeros((len(calibration.group_names), 2), dtype=np.int64)
    nothing = np.zeros((number, number + 1), dtype=np.int64)
    facts = (data_set.source, calibration, data_set.classes, data_set.model, "record", 0, None)
    total = Checked(*facts, nothing, nothing, groups)
    read = first = 0
    for patients in data_set.all_batches(task):
        read += len(patients)
        if not (usable := len(patients.checkable())):
            continue
        records = patients.labelled()
        if kept is not None:
            records = chosen(records, np.flatnonzero(kept[first : first + usable]))
        first += usable
        total = total + check_sets(records, calibration)[0] if len(records) else total
        if people is not None:
            people.add(records)
    return replace(total, read=read, people=None if people is None else people.total())


def _data_set(of: Source | Chosen) -> Source:
    return of.data_set if isinstance(of, Chosen) else of
