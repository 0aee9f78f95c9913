"""Counting records for a release or a check: task by task, wherever they lie."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import numpy as np

from ppsets_core.data.records import (
    Records,
    choose_rows,
    chosen,
    one_per_patient,
    patient_hashes,
    refuse_unused,
    rows_to_use,
    used_classes,
)
from ppsets_core.data.records import records as records_from_arrays
from ppsets_core.data.source import RowRange, Source, patients_in
from ppsets_core.errors import FileError, InputError
from ppsets_core.files.names import same_names
from ppsets_core.inputs import read_table, read_texts
from ppsets_core.method.bins import BinCounter
from ppsets_core.method.calibration import BaseCalibration, Calibration, Simulation
from ppsets_core.method.check import Evaluation, evaluation_of
from ppsets_core.method.counts import (
    Cohorts,
    Countable,
    Counts,
    CoverageCounts,
    check_columns,
    check_number,
    need_labels,
)
from ppsets_core.method.plan import DIAGNOSIS, NOVELTY, Plan, Target, plan
from ppsets_core.method.release import draw_trial, release, untouched
from ppsets_core.method.sets import coverage_counts, prediction_sets
from ppsets_core.progress import Progress
from ppsets_core.run import IN_PROCESS, Executor, map_tasks, sum_tasks
from ppsets_core.scores import Score

MOST_ROWS_OF_PATIENTS = 10**8
"""One record per patient is chosen in memory, from 16 bytes a row."""
CHANGED = "{source}: it changed while it was read. Nothing was released; try again."


# Records in memory


def calibrate(
    records: Records | np.ndarray | Sequence[float], alpha: float, epsilon: float, **choices: Any
) -> Calibration:
    """Draw ŝ with ε-differential privacy, so that P(Y ∈ C(X)) ≥ 1 − α. A release that costs ε, and no ledger counts it.

    `Ledger.release` counts. `calibrate(records, …).plan` is `plan(len(records), …)` with the same arguments.

    Parameters
    ----------
    records : as `read_scores` returns them, or bare scores in [0, 1], of which nothing else is known
    alpha, epsilon : as in `plan`
    choices : method, m, gamma, per, groups, novelty_share, novelty_alpha, as in `plan`

    >>> calibrate([0.1] * 9, 0.1, 0.1).threshold  # too few records for this ε: every label, nothing spent
    1.0
    """
    records = as_records(records)
    return release(count_records(records, plan_for(records, alpha, epsilon, **choices)))


def plan_for(records: Countable, alpha: float, epsilon: float, **choices: Any) -> Plan:
    """The plan for these records and their diagnoses, by the arguments of `plan`."""
    classes = None
    if choices.get("per") == DIAGNOSIS:
        need_labels(records.source, records.classes)
        classes = records.classes
    return plan(len(records), alpha, epsilon, classes=classes, **choices)


def simulate(records: Records | np.ndarray | Sequence[float], chosen: Plan, rng: np.random.Generator) -> Simulation:
    """Draw as planned with a seedable generator: a trial on public records, of another type than a release.

    Parameters
    ----------
    records : as `read_scores` returns them, or bare scores in [0, 1]
    chosen : a plan for as many records
    rng : such as `numpy.random.default_rng(0)`
    """
    return draw_trial(count_records(as_records(records), chosen), rng)


def as_records(given: Records | np.ndarray | Sequence[float]) -> Records:
    """Bare scores as records of which nothing else is known."""
    return given if isinstance(given, Records) else records_from_arrays(scores=given)


def count_records(records: Records, planned: Plan, cohorts: Cohorts | None = None) -> Counts:
    """Count records in memory as the plan needs it; a trivial plan needs nothing."""
    records.check_plan(planned)
    if planned.is_trivial and cohorts is None:
        return untouched(records, planned)
    facts = (records.source, records.classes, records.model, records.unit)
    return _count([records], facts, records.score, planned, cohorts)


def evaluate(
    probabilities: Any,
    labels: Any,
    calibration: BaseCalibration | float | Sequence[float],
    *,
    classes: Sequence[str] | None = None,
    groups: Sequence[str] | None = None,
    patients: Any = None,
) -> Evaluation:
    """Coverage and sizes of the sets that a calibration, or a bare threshold, cuts out of labelled records.

    Parameters
    ----------
    probabilities : one row per record, one column per class; each row adds up to 1
    labels : each record's true class, by name or column number
    calibration, classes, groups : as in `prediction_sets`
    patients : whose record each is. One of each patient counts, as in `one_per_patient`; without, each record is taken
        for a patient, and the intervals are too narrow where it is not

    >>> e = evaluate([[0.75, 0.25], [0.5, 0.5]], [1, 0], 0.5)
    >>> e.coverage, e.mean_size, e.size_counts.tolist()
    (0.5, 1.5, [0, 1, 1])
    """
    members = prediction_sets(probabilities, calibration, classes=classes, groups=groups)
    own = calibration.classes if isinstance(calibration, BaseCalibration) else None
    truth = read_table(probabilities, classes).labels(labels, own)
    if patients is not None:
        kept = rows_to_use(same_names(read_texts(patients, len(truth), "patients")))
        members, truth = members[kept], truth[kept]
    return evaluation_of(*coverage_counts(members, truth))


def cover_records(records: Records, calibration: BaseCalibration, cohorts: Cohorts | None = None) -> CoverageCounts:
    """Count one record per patient, as calibration does: several of one patient are not independent."""
    used, cohort = one_per_patient(records), None
    if cohorts is not None:
        builder = cohorts()
        builder.add(used)
        cohort = builder.total()
    return replace(_cover(used, calibration), read=len(records), labelled=len(records), cohort=cohort)


def _cover(records: Records, calibration: BaseCalibration) -> CoverageCounts:
    if records.probabilities is None or records.labels is None:
        raise InputError(f"{records.source}: a check needs a probability for each diagnosis and the true one as label.")
    if calibration.group_names and calibration.per not in records.groups:
        raise InputError(f"{records.source}: there is no column '{calibration.per}' that says each record's group.")
    own = records.groups[str(calibration.per)] if calibration.group_names else None
    members = prediction_sets(
        *(records.probabilities, calibration),
        classes=records.classes,
        groups=None if own is None else own.tolist(),
        half_precision=records.half_precision,
    )
    inside = members[np.arange(len(records)), records.labels]
    groups = [
        [int((inside & (own == name)).sum()), int((~inside & (own == name)).sum())] for name in calibration.group_names
    ]
    facts = (records.source, records.classes, records.model, records.unit, len(records), len(records), calibration)
    counted = *coverage_counts(members, records.labels), np.array(groups, dtype=np.int64).reshape(-1, 2)
    return CoverageCounts(*facts, *counted)


# Records in files


class DescribedRecords(Countable, Protocol):
    """Records that are not counted yet, and what is said of them before they are."""

    @property
    def has_patients(self) -> bool: ...

    @property
    def names_everyone(self) -> bool: ...

    @property
    def has_novelty(self) -> bool: ...

    @property
    def patient_count(self) -> int | None: ...

    def coverage(self, calibration: BaseCalibration, cohorts: Cohorts | None = None) -> CoverageCounts:
        """Count how many of one record per patient the calibration's sets cover."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Selection(Source):
    """The records of a data set that are used: all, or one per patient.

    n: how many are used; read: how many there are.
    patient_count: how many patients; None where no column names them.
    unit: what ε protects one of.
    kept: which rows of each task are used; None: all.
    names_everyone: whether every row names its patient.
    executor, progress: where they are counted, and who hears how far it is.
    """

    n: int = 0
    read: int = 0
    patient_count: int | None = None
    unit: str = "record"
    kept: tuple[np.ndarray, ...] | None = None
    names_everyone: bool = False
    executor: Executor = IN_PROCESS
    progress: Progress | None = None

    def __len__(self) -> int:
        return self.n

    def check_plan(self, planned: Plan) -> None:
        check_number(self.n, planned)
        check_columns(self.source, planned, self.classes, self.names)

    def counts(self, planned: Plan, cohorts: Cohorts) -> Counts:
        """Read everything once: check every row, count those that are used, and who they are."""
        self.check_plan(planned)
        total = sum_tasks(count_task, self._tasks(planned, cohorts), self.executor, self.progress)
        if (total.read, total.n) != (self.read, self.n):
            raise FileError(CHANGED.format(source=self.source))
        if not self.wanted:
            refuse_unused(self.source, self.classes, total.used_classes)
        return replace(total, unit=self.unit)

    def coverage(self, calibration: BaseCalibration, cohorts: Cohorts | None = None) -> CoverageCounts:
        """Count one record per patient of those whose true diagnosis is known."""
        if self.has_patients and self.kept is None:
            chosen = select(self, executor=self.executor, progress=self.progress)
            return chosen.coverage(calibration, cohorts)
        total = sum_tasks(cover_task, self._tasks(calibration, cohorts), self.executor, self.progress)
        if not len(total):
            raise InputError(f"{self.source}: no row has a `label` that is one of {', '.join(self.classes[:20])}.")
        if len(total) != self.n and self.kept is not None:
            raise FileError(CHANGED.format(source=self.source))
        return replace(total, unit=self.unit)

    def _tasks(self, *given: Any) -> list[tuple[Any, ...]]:
        kept = self.kept or [None] * len(self.tasks)
        return [(*task, rows, *given) for task, rows in zip(self.described_tasks(), kept, strict=True)]


def select(
    data_set: Source,
    *,
    all_records: bool = False,
    executor: Executor = IN_PROCESS,
    progress: Progress | None = None,
) -> Selection:
    """Choose the records to use: one per patient where patients are named, unless all are wanted."""
    selected = partial(Selection, **data_set.facts(), executor=executor, progress=progress)
    tasks = data_set.described_tasks()
    if not data_set.has_patients:
        rows = sum_tasks(count_rows, tasks, executor, progress) if data_set.rows is None else data_set.rows
        return selected(n=rows, read=rows)
    found = []
    for hashes in map_tasks(hash_patients, tasks, executor, progress):
        found.append(hashes)
        if sum(map(len, found)) > MOST_ROWS_OF_PATIENTS:
            raise FileError(
                f"{data_set.source}: more than {MOST_ROWS_OF_PATIENTS:,} rows to choose one record per patient from. "
                "Split it, or calibrate with --all-records."
            )
    hashes = np.concatenate(found)
    kept, everyone = choose_rows(hashes), bool(hashes.any(axis=1).all())
    ends = np.cumsum([len(hashes) for hashes in found])[:-1]
    patients = int(kept.sum())
    used, unit = (len(kept), "record") if all_records else (patients, "patient")
    masks = None if all_records else tuple(np.split(kept, ends))
    return selected(n=used, read=len(kept), patient_count=patients, unit=unit, kept=masks, names_everyone=everyone)


# Functions of a task


def count_rows(data_set: Source, task: Sequence[RowRange]) -> int:
    return sum(len(batch) for batch in data_set.batches(task))


def hash_patients(data_set: Source, task: Sequence[RowRange]) -> np.ndarray:
    found = [np.zeros((0, 2), dtype=np.uint64)]
    for columns in data_set.columns(task, ["patient"]):
        names = patients_in(columns)
        assert names is not None
        found.append(patient_hashes(names.tolist()))
    return np.concatenate(found)


def count_task(
    data_set: Source, task: Sequence[RowRange], kept: np.ndarray | None, planned: Plan, cohorts: Cohorts
) -> Counts:
    """The counts of one task's records; `kept` says which of its rows are used."""
    read, used = 0, np.zeros(len(data_set.classes), dtype=bool)

    def batches() -> Iterator[Records]:
        nonlocal read, used
        for batch in data_set.batches(task):
            rows = None if kept is None else np.flatnonzero(kept[read : read + len(batch)])
            read, used = read + len(batch), used | used_classes(batch)
            yield batch if rows is None else chosen(batch, rows)

    facts = (data_set.source, data_set.classes, data_set.model, "record")
    total = _count(batches(), facts, data_set.score, planned, cohorts)
    return replace(total, read=read, used_classes=used)


def cover_task(
    data_set: Source,
    task: Sequence[RowRange],
    kept: np.ndarray | None,
    calibration: BaseCalibration,
    cohorts: Cohorts | None,
) -> CoverageCounts:
    """How many of one task's labelled records are covered; `kept` says which of those are used."""
    number = len(data_set.classes)
    facts = (data_set.source, data_set.classes, data_set.model, "record", 0, 0, calibration)
    nothing = (np.zeros((rows, 2), dtype=np.int64) for rows in (number, number + 1, len(calibration.group_names)))
    total = CoverageCounts(*facts, *nothing)
    builder = None if cohorts is None else cohorts()
    read = first = 0
    for patients in data_set.all_batches(task):
        read += len(patients)
        if not (usable := len(patients.checkable())):
            continue
        records = patients.labelled()
        if kept is not None:
            records = chosen(records, np.flatnonzero(kept[first : first + usable]))
        first += usable
        total = total + _cover(records, calibration) if len(records) else total
        if builder is not None:
            builder.add(records)
    return replace(total, read=read, labelled=first, cohort=None if builder is None else builder.total())


def _count(
    batches: Iterable[Records],
    facts: tuple[str, tuple[str, ...], str | None, str],
    score: Score,
    planned: Plan,
    cohorts: Cohorts | None,
) -> Counts:
    """Count batches as they come, in the same memory. Facts: source, classes, model and unit."""
    counters = [BinCounter(target.m) for target in planned.targets]
    builder, n, half_precision = None if cohorts is None else cohorts(), 0, False
    for records in batches:
        n, half_precision = n + len(records), half_precision or records.half_precision
        if builder is not None:
            builder.add(records)
        for target, counter in zip(planned.targets, counters, strict=True):
            counter.add(_values(target, records, planned))
    bins, cohort = tuple(counter.total() for counter in counters), None if builder is None else builder.total()
    return Counts(*facts, n, n, planned, bins, cohort, half_precision, score=score)


def _values(target: Target, records: Records, planned: Plan) -> np.ndarray:
    """What a target is a quantile of; a record of no named group counts for none."""
    if target.quantity == NOVELTY:
        assert records.novelty is not None
        return records.novelty
    if target.of is None:
        return records.scores
    if planned.per == DIAGNOSIS:
        return records.scores[records.labels == planned.names.index(target.of)]
    return records.scores[records.groups[str(planned.per)] == target.of]
