"""Counting records for a release or a check: task by task, wherever they lie."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from ppsets_core.data.one_per_patient import choose_rows, one_per_patient, patient_hashes, rows_to_use
from ppsets_core.data.records import Records, chosen, refuse_unused, used_classes
from ppsets_core.data.score_file import patients_in
from ppsets_core.data.source import RowRange, Source
from ppsets_core.errors import FileError, InputError
from ppsets_core.files.names import same_names
from ppsets_core.inputs import as_array, is_half, plain_numbers, read_table, read_texts
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
from ppsets_core.validation import check_scores

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


def as_records(records: Records | np.ndarray | Sequence[float]) -> Records:
    """Bare scores as records of which nothing else is known."""
    if isinstance(records, Records):
        return records
    return Records("scores", check_scores(plain_numbers(as_array(records))), half_precision=is_half(records))


def count_records(records: Records, planned: Plan, cohorts: Cohorts | None = None) -> Counts:
    """Count records in memory as the plan needs it; a trivial plan needs nothing."""
    records.check_plan(planned)
    if planned.is_trivial and cohorts is None:
        return untouched(records, planned)
    counting = _Counting(planned, cohorts)
    counting.add(records)
    facts = (records.source, records.classes, records.model, records.unit)
    return counting.total(facts, records.score, len(records))


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


@dataclass(frozen=True, eq=False)
class Selection:
    """The records of a data set that are used: all, or one per patient.

    n: how many are used; read: how many there are.
    patient_count: how many patients; None where no column names them.
    unit: what ε protects one of.
    kept: which rows of each task are used; None: all.
    names_everyone: whether every row names its patient.
    executor, progress: where they are counted, and who hears how far it is.
    """

    data_set: Source
    n: int
    read: int
    patient_count: int | None = None
    unit: str = "record"
    kept: tuple[np.ndarray, ...] | None = None
    names_everyone: bool = False
    executor: Executor = IN_PROCESS
    progress: Progress | None = None

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
    def score(self) -> Score:
        return self.data_set.score

    @property
    def has_patients(self) -> bool:
        return self.data_set.has_patients

    @property
    def has_novelty(self) -> bool:
        return NOVELTY in self.data_set.names

    def check_plan(self, planned: Plan) -> None:
        check_number(self.n, planned)
        check_columns(self.source, planned, self.classes, self.data_set.names)

    def counts(self, planned: Plan, cohorts: Cohorts) -> Counts:
        """Read everything once: check every row, count those that are used, and who they are."""
        self.check_plan(planned)
        total = sum_tasks(count_task, self._tasks(planned, cohorts), self.executor, self.progress)
        if (total.read, total.n) != (self.read, self.n):
            raise FileError(CHANGED.format(source=self.source))
        if not self.data_set.wanted:
            refuse_unused(self.source, self.classes, total.used_classes)
        return replace(total, unit=self.unit)

    def coverage(self, calibration: BaseCalibration, cohorts: Cohorts | None = None) -> CoverageCounts:
        """Count one record per patient of those whose true diagnosis is known."""
        if self.has_patients and self.kept is None:
            chosen = select(self.data_set, executor=self.executor, progress=self.progress)
            return chosen.coverage(calibration, cohorts)
        total = sum_tasks(cover_task, self._tasks(calibration, cohorts), self.executor, self.progress)
        if not len(total):
            raise InputError(f"{self.source}: no row has a `label` that is one of {', '.join(self.classes[:20])}.")
        if len(total) != self.n and self.kept is not None:
            raise FileError(CHANGED.format(source=self.source))
        return replace(total, unit=self.unit)

    def _tasks(self, *given: Any) -> list[tuple[Any, ...]]:
        described, tasks = replace(self.data_set, tasks=()), self.data_set.tasks
        kept = self.kept or [None] * len(tasks)
        return [(described, task, rows, *given) for task, rows in zip(tasks, kept, strict=True)]


def select(
    data_set: Source,
    *,
    all_records: bool = False,
    executor: Executor = IN_PROCESS,
    progress: Progress | None = None,
) -> Selection:
    """Choose the records to use: one per patient where patients are named, unless all are wanted."""
    tasks = [(replace(data_set, tasks=()), task) for task in data_set.tasks]
    if not data_set.has_patients:
        rows = sum_tasks(count_rows, tasks, executor, progress) if data_set.rows is None else data_set.rows
        return Selection(data_set, rows, rows, executor=executor, progress=progress)
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
    return Selection(data_set, used, len(kept), patients, unit, masks, everyone, executor, progress)


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
    counting, read, used = _Counting(planned, cohorts), 0, np.zeros(len(data_set.classes), dtype=bool)
    for batch in data_set.batches(task):
        rows = None if kept is None else np.flatnonzero(kept[read : read + len(batch)])
        counting.add(batch if rows is None else chosen(batch, rows))
        used |= used_classes(batch)
        read += len(batch)
    total = counting.total((data_set.source, data_set.classes, data_set.model, "record"), data_set.score, read)
    return replace(total, used_classes=used)


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


class _Counting:
    """Counts as they grow, batch by batch, in the same memory."""

    def __init__(self, planned: Plan, cohorts: Cohorts | None) -> None:
        self._plan, self._cohort, self._n = planned, None if cohorts is None else cohorts(), 0
        self._half = False
        self._counters = [BinCounter(target.m) for target in planned.targets]

    def add(self, records: Records) -> None:
        self._n += len(records)
        self._half |= records.half_precision
        if self._cohort is not None:
            self._cohort.add(records)
        for target, counter in zip(self._plan.targets, self._counters, strict=True):
            counter.add(_values(target, records, self._plan))

    def total(self, facts: tuple[str, tuple[str, ...], str | None, str], score: Score, read: int) -> Counts:
        bins = tuple(counter.total() for counter in self._counters)
        cohort = None if self._cohort is None else self._cohort.total()
        return Counts(*facts, self._n, read, self._plan, bins, cohort, self._half, score=score)


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
