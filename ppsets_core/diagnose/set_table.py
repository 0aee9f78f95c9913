"""Prediction sets of X-rays and tables alike: what every card, table, check, export and report is made from."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property

import numpy as np

from ppsets_core.data.records import Records
from ppsets_core.diagnose.novelty import OUTSIDE, Alarm, NoveltyThreshold, novelty_thresholds
from ppsets_core.diagnose.xrays import XrayRecords
from ppsets_core.method.calibration import BaseCalibration, Calibration, now
from ppsets_core.method.calibration_json import write_calibration
from ppsets_core.method.check import Check, check_counts
from ppsets_core.method.sets import prediction_sets
from ppsets_core.version import __version__
from ppsets_core.wording import class_names

READINGS = ("one", "several", "none", "flagged")


@dataclass(frozen=True)
class SetCounts:
    """How many sets have one diagnosis, several or none; how many pictures are flagged, which are in no other count; of
    how many it is known whether they are unfamiliar, and how many lie above the first and the second threshold of
    novelty. Counts of several batches add."""

    one: int = 0
    several: int = 0
    none: int = 0
    flagged: int = 0
    compared: int = 0
    above_first: int = 0
    above_second: int = 0

    def __add__(self, other: "SetCounts") -> "SetCounts":
        return SetCounts(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(self)))

    def __len__(self) -> int:
        return sum(self.readings.values())

    @property
    def readings(self) -> dict[str, int]:
        return {reading: getattr(self, reading) for reading in READINGS}

    def alarm(self, calibration: BaseCalibration, model: str | None) -> Alarm:
        thresholds = novelty_thresholds(calibration, model)
        above = (self.above_first, self.above_second)[: len(thresholds)]
        return Alarm(above, self.compared, thresholds, self.flagged, model)


@dataclass(frozen=True)
class Provenance:
    """A calibration, the fingerprint of the model whose probabilities it cut (None if unknown), and when.

    `group`: the group of all these records, where each group has its own threshold.
    """

    calibration: BaseCalibration
    model: str | None
    group: str | None = None
    exported: str = field(default_factory=now)

    def columns(self) -> dict[str, object]:
        """For a CSV: the same in every row, so that it outlasts sorting, filtering and copying, and any reader reads
        it; a line above the header would not, and a second file gets lost."""
        drawn = self.calibration
        release = drawn if isinstance(drawn, Calibration) else None
        return {
            "alpha": drawn.alpha,
            "epsilon": drawn.epsilon,
            "rule": drawn.method,
            "promised to": self._promised_to(),
            "calibration": "release" if release else "simulation",
            "calibration data set": release.dataset if release else None,
            "calibration date": release.date if release else None,
            "calibration records": drawn.n,
            "calibration model": drawn.model,
            "model": self.model,
            "ppsets": __version__,
            "exported": self.exported,
        }

    def document(self) -> dict[str, object]:
        """For JSON, and as JSON for Parquet's metadata: the calibration whole, as `Calibration.from_json` takes it."""
        return {
            "ppsets": __version__,
            "exported": self.exported,
            "model": self.model,
            "group": self.group,
            "calibration": json.loads(write_calibration(self.calibration)),
        }

    def _promised_to(self) -> str:
        if self.calibration.per is None:
            return "all together"
        return f"each {self.calibration.per}" + ("" if self.group is None else f": {self.group}")


@dataclass(frozen=True, eq=False)
class SetTable:
    """Records with their sets, in columns. A picture that does not look like a chest X-ray is flagged, not counted.

    members: which diagnoses are in each set, as booleans (N, K).
    group: the group that all records are of, where that was said once for all.
    xrays: what only X-rays have; None for a table.
    """

    records: Records
    calibration: BaseCalibration
    members: np.ndarray
    group: str | None = None
    xrays: XrayRecords | None = None

    def __len__(self) -> int:
        return len(self.records)

    def __getitem__(self, row: int) -> "SetRow":
        number = self.labels[row]
        seen = () if self.xrays is None else (self.xrays.doubts[row], self.xrays.thumbnails[row])
        return SetRow(
            self,
            row,
            self.names[row],
            self.classes,
            self.probabilities[row],
            tuple(self.ranked[row]),
            READINGS[self.readings[row]],
            None if number < 0 else self.classes[number],
            bool(self.missed[row]),
            None if self.unfamiliar is None else bool(self.unfamiliar[row]),
            *seen,
        )

    @property
    def classes(self) -> tuple[str, ...]:
        return self.records.classes

    @property
    def probabilities(self) -> np.ndarray:
        assert self.records.probabilities is not None
        return self.records.probabilities

    @cached_property
    def labels(self) -> np.ndarray:
        """The true diagnosis of each, as a column number; −1 where it is unknown."""
        return np.full(len(self), -1) if self.records.labels is None else self.records.labels

    @cached_property
    def names(self) -> list[str]:
        """Each record's identifiers, in one string."""
        return [" ".join(who) for who in zip(*(v.tolist() for v in self.records.identifiers.values()), strict=True)]

    @cached_property
    def sizes(self) -> np.ndarray:
        return self.members.sum(axis=1)

    @cached_property
    def ranked(self) -> list[list[str]]:
        """The diagnoses of each set, likeliest first."""
        order = np.argsort(-self.probabilities, axis=1, kind="stable")
        inside = np.take_along_axis(self.members, order, axis=1)
        names = np.array(self.classes, dtype=object)[order[inside]].tolist()
        ends = np.cumsum(self.sizes).tolist()
        return [names[start:end] for start, end in zip([0, *ends], ends, strict=False)]

    @cached_property
    def flagged(self) -> np.ndarray:
        if self.xrays is None:
            return np.zeros(len(self), dtype=bool)
        return np.array([bool(doubt) for doubt in self.xrays.doubts], dtype=bool)

    @cached_property
    def readings(self) -> np.ndarray:
        """One of READINGS for each, by its number."""
        by_size = np.array([2, 0, 1])[np.minimum(self.sizes, 2)]
        return np.where(self.flagged, 3, by_size)

    @cached_property
    def cutoffs(self) -> np.ndarray:
        """The probability that each diagnosis needed to be in the set, (N, K); with another score than 1 − p, where the
        line runs between what is in this set and what is not."""
        if not self.calibration.has_cutoffs:
            least = np.where(self.members, self.probabilities, 1).min(axis=1, keepdims=True)
            return np.where(self.members, least, np.maximum(least, np.nextafter(self.probabilities, 2)))
        groups, half = _groups(self.records, self.calibration), self.records.half_precision
        cutoffs = self.calibration.class_cutoffs(len(self), len(self.classes), groups, half)
        return np.broadcast_to(cutoffs, self.members.shape)

    @cached_property
    def covered(self) -> np.ndarray:
        """Whether the true diagnosis is in the set; meaningless where it is unknown."""
        return self.members[np.arange(len(self)), self.labels]

    @cached_property
    def missed(self) -> np.ndarray:
        """Whether the true diagnosis is known and not in the set."""
        return (self.labels >= 0) & ~self.covered

    @cached_property
    def novelty_thresholds(self) -> tuple[NoveltyThreshold, ...]:
        return novelty_thresholds(self.calibration, self.records.model)

    @cached_property
    def unlike(self) -> np.ndarray | None:
        """Which records lie above each threshold of novelty, (thresholds, N); None where that cannot be known."""
        novelty, half = self.records.novelty, self.records.half_precision or self.calibration.half_precision
        if novelty is None or not self.novelty_thresholds:
            return None
        return np.array([one.unlike(novelty, half) for one in self.novelty_thresholds])

    @cached_property
    def unfamiliar(self) -> np.ndarray | None:
        """Which records lie above some threshold of novelty; None where that cannot be known."""
        return None if self.unlike is None else np.logical_or.reduce(self.unlike)

    def caution(self, row: int) -> str:
        """What to say of an unfamiliar record; '' where there is nothing to say."""
        if self.unfamiliar is None or self.unlike is None or not self.unfamiliar[row]:
            return ""
        whose = [
            one.compared_with for one, above in zip(self.novelty_thresholds, self.unlike, strict=True) if above[row]
        ]
        return f"{OUTSIDE} Unlike {', and unlike '.join(whose)}."

    @cached_property
    def counts(self) -> SetCounts:
        kinds = SetCounts(*np.bincount(self.readings, minlength=len(READINGS)).tolist())
        if self.unlike is None:
            return kinds
        first, *second = (self.unlike & ~self.flagged).sum(axis=1).tolist()
        return replace(kinds, compared=len(self) - kinds.flagged, above_first=first, above_second=sum(second))

    @property
    def alarm(self) -> Alarm:
        """The alarm over all that are not flagged."""
        return self.counts.alarm(self.calibration, self.records.model)

    @cached_property
    def check(self) -> Check | None:
        """The sets against the true diagnoses, flagged pictures too; None where none can be checked."""
        if not len(self.records.checkable()):
            return None
        return check_counts(self.records.labelled().coverage(self.calibration))

    @property
    def not_checked(self) -> str:
        """What to say where records with a known diagnosis are in no check."""
        seen = int((self.labels >= 0).sum()) - len(self.records.checkable())
        if not seen:
            return ""
        why = "of the training part" if self.xrays is None else "that, by their names, the bundled model was trained on"
        return f"Not checked: {seen:,} {why}."

    def shown(self) -> "SetTable":
        """These sets with the classes as people read them, for screens and reports."""
        names, drawn = class_names(self.classes), self.calibration
        named = replace(drawn, classes=names if drawn.classes else ())
        return replace(self, records=replace(self.records, classes=names), calibration=named)

    def provenance(self) -> Provenance:
        """Where these sets come from, now."""
        return Provenance(self.calibration, self.records.model, self.group)

    def rows(self, reading: str | None = None, order: str = "as given") -> list[int]:
        """The rows with one reading, 'missed' or 'unfamiliar' for those that are, None for all; in one of ORDERS."""
        if reading is None:
            chosen = np.arange(len(self))
        elif reading == "unfamiliar":
            chosen = np.flatnonzero([] if self.unfamiliar is None else self.unfamiliar)
        else:
            chosen = np.flatnonzero(self.missed if reading == "missed" else self.readings == READINGS.index(reading))
        if order == "as given":
            return chosen.tolist()
        return sorted(chosen.tolist(), key=lambda row: ORDERS[order](self[row]))


@dataclass(frozen=True, eq=False)
class SetRow:
    """One row of a SetTable, for a card or a line.

    shares: the probability of each class, in the order of the classes.
    members: the set, likeliest first.
    label: the true diagnosis, where it is known.
    is_unfamiliar: None where that cannot be known.
    """

    table: SetTable = field(repr=False)
    number: int
    name: str
    classes: tuple[str, ...]
    shares: np.ndarray
    members: tuple[str, ...]
    reading: str
    label: str | None
    is_missed: bool
    is_unfamiliar: bool | None
    doubt: str = ""
    thumbnail: bytes = field(default=b"", repr=False)

    @property
    def probabilities(self) -> dict[str, float]:
        """Every class with its probability, likeliest first."""
        return {self.classes[i]: float(self.shares[i]) for i in np.argsort(-self.shares, kind="stable")}

    @property
    def cutoffs(self) -> dict[str, float]:
        """The probability that each class needed."""
        return dict(zip(self.classes, self.table.cutoffs[self.number].tolist(), strict=True))

    @property
    def caution(self) -> str:
        """Why not to rely on this set, where the record is unfamiliar; else ''."""
        return self.table.caution(self.number)

    @property
    def set_with_probabilities(self) -> str:
        return ", ".join(f"{name} {self.probabilities[name]:.3f}" for name in self.members)

    @property
    def words(self) -> str:
        """The reading of the set in a sentence or two."""
        if not self.members:
            return "No diagnosis is likely enough. The model is at a loss: have the X-ray read by a person."
        if len(self.members) == 1:
            return f"One diagnosis: {self.members[0]}."
        if len(self.members) == len(self.classes):
            return "Every diagnosis that the model knows remains."
        below = [name for name in self.classes if name not in self.members]
        others = ", ".join(below) if len(below) <= 3 else f"{len(below)} others"
        either = " or ".join([", ".join(self.members[:-1]), self.members[-1]])
        return f"{len(self.members)} diagnoses remain: {either}. Not likely enough: {others}."


MISSES_FIRST = "misses first"
ORDERS = {
    MISSES_FIRST: lambda row: (not row.is_missed, row.number),
    "as given": lambda row: row.number,
    "most diagnoses first": lambda row: (-len(row.members), row.shares.max()),
    "fewest diagnoses first": lambda row: (len(row.members), -row.shares.max()),
    "least sure first": lambda row: row.shares.max(),
    "surest first": lambda row: -row.shares.max(),
    "by file name": lambda row: row.name,
}


def sets_of(
    records: Records, calibration: BaseCalibration, *, group: str | None = None, xrays: XrayRecords | None = None
) -> SetTable:
    """The sets that a calibration cuts out of probabilities. Refuses a calibration of other classes or another model.

    group: the group that all records are of, such as their site, where the calibration has a threshold for each and the
        records do not say it.
    xrays: what `examine` found, if these are its records.
    """
    calibration.check_fits(records.classes, records.model)
    if group is not None:
        records = replace(records, groups={str(calibration.per): np.full(len(records), group)})
    assert records.probabilities is not None
    groups = _groups(records, calibration)
    members = prediction_sets(
        *(records.probabilities, calibration),
        classes=records.classes,
        groups=groups,
        half_precision=records.half_precision,
    )
    return SetTable(records, calibration, members, group, xrays)


def _groups(records: Records, calibration: BaseCalibration) -> Sequence[str] | None:
    own = records.groups.get(str(calibration.per))
    return None if own is None else own.tolist()
