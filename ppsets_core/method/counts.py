"""Counts: all that is ever computed from private records. Counts of parts add up to those of the whole."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from ppsets_core.errors import InputError
from ppsets_core.method.calibration import BaseCalibration
from ppsets_core.method.plan import DIAGNOSIS, NOVELTY, Plan
from ppsets_core.method.rules.mechanism import Mechanism
from ppsets_core.scores import Score


class CohortBuilder(Protocol):
    """Accumulates who the records are, as the ledger knows them; totals add up."""

    def add(self, records: Any) -> None: ...

    def total(self) -> Any: ...


MOST_CELLS = 3 * 10**7
"""The bins of all targets together: what counts may take of memory, 8 bytes each."""
Cohorts = Callable[[], CohortBuilder]
"""Makes builders; whoever reads records has one."""


class Countable(Protocol):
    """Records that a release can be drawn from: in memory, in files, or counted already."""

    @property
    def source(self) -> str: ...

    @property
    def classes(self) -> tuple[str, ...]: ...

    @property
    def model(self) -> str | None: ...

    @property
    def unit(self) -> str: ...

    @property
    def score(self) -> Score: ...

    def __len__(self) -> int: ...

    def check_plan(self, plan: Plan) -> None:
        """Refuse a plan that needs what the records do not say."""

    def counts(self, plan: Plan, cohorts: Cohorts) -> "Counts":
        """Count them as the plan needs it."""


@dataclass(frozen=True, eq=False)
class Counts:
    """How many records lie in each bin, for each target of a plan, and who they are.

    source, classes, model, unit, score: as the records say.
    n: how many records are used; read: how many there were.
    plan: what they were counted for.
    bins: for each target the number of records in each of its m bins.
    cohort: whom a release is charged to.
    half_precision: whether the scores, or the probabilities behind them, were stored as float16.
    mechanisms: what draws each target, once `prepared`.
    used_classes: which classes have a probability above 0 or a label; of data sets.
    """

    source: str
    classes: tuple[str, ...]
    model: str | None
    unit: str
    n: int
    read: int
    plan: Plan
    bins: tuple[np.ndarray, ...]
    cohort: Any = None
    half_precision: bool = False
    mechanisms: tuple[Mechanism | None, ...] | None = None
    score: Score = field(kw_only=True)
    used_classes: np.ndarray = field(kw_only=True, default_factory=lambda: np.empty(0, dtype=bool))

    def __len__(self) -> int:
        return self.n

    def __add__(self, other: "Counts") -> "Counts":
        return replace(
            self,
            n=self.n + other.n,
            read=self.read + other.read,
            bins=tuple(one + more for one, more in zip(self.bins, other.bins, strict=True)),
            cohort=self.cohort + other.cohort,
            half_precision=self.half_precision or other.half_precision,
            used_classes=self.used_classes | other.used_classes,
        )

    def prepared(self) -> "Counts":
        """With all that a draw needs. It may take a second and fail, so it is done before anything is charged."""
        if self.mechanisms is not None:
            return self
        check_number(self.n, self.plan)
        plan = self.plan.with_classes(self.classes)
        pairs = zip(plan.targets, self.bins, strict=True)
        return replace(self, plan=plan, mechanisms=tuple(of.mechanism(int(bins.sum()), plan.n) for of, bins in pairs))

    def check_plan(self, plan: Plan) -> None:
        if plan != self.plan:
            raise InputError(f"{self.source} was counted for another plan; count it again for this one.")

    def counts(self, plan: Plan, cohorts: Cohorts) -> "Counts":
        self.check_plan(plan)
        return self


@dataclass(frozen=True, eq=False)
class CoverageCounts:
    """How many had their diagnosis in the set, and how many had not: two columns.

    by_class, by_size, by_group: for each diagnosis, each size of a set from 0, and each group with its own threshold.
    read: how many rows there were; labelled: how many of them have a known diagnosis. One per patient is counted.
    """

    source: str
    classes: tuple[str, ...]
    model: str | None
    unit: str
    read: int
    labelled: int
    calibration: BaseCalibration
    by_class: np.ndarray
    by_size: np.ndarray
    by_group: np.ndarray
    cohort: Any = None

    @property
    def score(self) -> Score:
        return self.calibration.score

    def __len__(self) -> int:
        return int(self.by_class.sum())

    def __add__(self, other: "CoverageCounts") -> "CoverageCounts":
        return replace(
            self,
            read=self.read + other.read,
            labelled=self.labelled + other.labelled,
            by_class=self.by_class + other.by_class,
            by_size=self.by_size + other.by_size,
            by_group=self.by_group + other.by_group,
            cohort=None if self.cohort is None else self.cohort + other.cohort,
        )


def check_number(count: int, plan: Plan) -> None:
    if count != plan.n:
        raise InputError(f"The plan is for {plan.n} records but there are {count}; plan again for these.")


def check_columns(source: str, plan: Plan, classes: tuple[str, ...], columns: tuple[str, ...]) -> None:
    """Refuse a plan that needs diagnoses, a group or novelty where the records do not say them, or too many bins."""
    if plan.per == DIAGNOSIS:
        need_labels(source, classes)
        plan.with_classes(classes)
    elif plan.per is not None and plan.per not in columns:
        raise InputError(f"{source}: there is no column '{plan.per}' that says the group of each record.")
    if sum(target.m for target in plan.targets) > MOST_CELLS:
        raise InputError(
            f"{source}: {len(plan.targets):,} thresholds of {plan.m:,} bins are too many to count. "
            f"Choose m (--m) of at most {MOST_CELLS // len(plan.targets):,}."
        )
    if plan.novelty is not None and NOVELTY not in columns:
        raise InputError(f"{source}: there is no column 'novelty', so no alarm can be calibrated. Plan without it.")


def need_labels(source: str, classes: tuple[str, ...]) -> None:
    if not classes:
        raise InputError(
            f"{source}: a promise for each diagnosis needs the label of every record, and the names of all classes. "
            "Give a probability for each diagnosis and the true one as `label`, or scores, a `label` and the classes "
            "(--classes flu,cold, in Python classes=[…])."
        )
