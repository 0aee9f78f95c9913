"""Ranked sets for a table of probabilities: thousands of rows at once, as columns, with the file's own identifiers."""

import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ppsets_core.data.records import Records
from ppsets_core.diagnose.provenance import Provenance
from ppsets_core.files.names import plain_cell
from ppsets_core.method.calibration import Drawn
from ppsets_core.method.check import Check, check_records
from ppsets_core.method.sets import prediction_sets
from ppsets_core.novelty import Alarm, Watch, alarm_over, watch_for

if TYPE_CHECKING:
    import pyarrow as pa

KINDS = ("one", "several", "none")


@dataclass(frozen=True, eq=False)
class PatientSets:
    """The sets that a calibration cuts out of new patients' probabilities: `members` as booleans (N, K)."""

    patients: Records
    calibration: Drawn
    members: np.ndarray

    @property
    def probabilities(self) -> np.ndarray:
        assert self.patients.probabilities is not None
        return self.patients.probabilities

    @cached_property
    def sizes(self) -> np.ndarray:
        return self.members.sum(axis=1)

    @cached_property
    def ranked(self) -> list[list[str]]:
        """Each set's diagnoses, likeliest first."""
        order = np.argsort(-self.probabilities, axis=1, kind="stable")
        inside = np.take_along_axis(self.members, order, axis=1)
        names = np.array(self.patients.classes, dtype=object)[order[inside]].tolist()
        ends = np.cumsum(self.sizes).tolist()
        return [names[start:end] for start, end in zip([0, *ends], ends, strict=False)]

    def of_kind(self, kind: str | None) -> np.ndarray:
        """The rows with one diagnosis, several or none, by their places; None for all, 'missed' for those missed."""
        if kind == "missed":
            return self.missed
        chosen = {"one": self.sizes == 1, "several": self.sizes > 1, "none": self.sizes == 0}
        return np.arange(len(self.sizes)) if kind is None else np.flatnonzero(chosen[kind])

    def counts(self) -> dict[str, int]:
        return {kind: len(self.of_kind(kind)) for kind in KINDS}

    @cached_property
    def check(self) -> Check | None:
        """The sets against the true diagnoses; None where the file has none that the model knows."""
        return check_records(self.patients.labelled(), self.calibration) if len(self.patients.checkable()) else None

    @property
    def missed(self) -> np.ndarray:
        """The rows whose set lacks the true diagnosis."""
        return np.empty(0, dtype=np.int64) if self.check is None else self.patients.checkable()[self.check.missed]

    @cached_property
    def watch(self) -> Watch:
        return watch_for(self.calibration, self.patients.model)

    @cached_property
    def familiar(self) -> list[bool | None]:
        """Whether each patient is like those that they are compared with; None where that cannot be told."""
        known = self.patients.novelty
        return [self.watch.is_familiar(None if known is None else float(known[row])) for row in range(len(self.sizes))]

    @property
    def alarm(self) -> Alarm:
        """The alarm over the whole table."""
        return alarm_over(self.familiar, self.watch)


def sets_of_new_patients(patients: Records, calibration: Drawn) -> PatientSets:
    """Refuses a calibration of other classes or another model, and says what to do."""
    calibration.check_fits(patients.classes, patients.model)
    assert patients.probabilities is not None
    groups = _groups(patients, calibration)
    members = prediction_sets(patients.probabilities, calibration, classes=patients.classes, groups=groups)
    return PatientSets(patients, calibration, members)


def _groups(patients: Records, calibration: Drawn) -> Sequence[str] | None:
    return patients.groups[str(calibration.per)].tolist() if calibration.group_names else None


def as_table(sets: PatientSets, rows: np.ndarray | None = None) -> "pa.Table":
    """Identifiers, number of diagnoses, the set, the true diagnosis where known, and every probability."""
    import pyarrow as pa

    columns = _columns(sets, np.arange(len(sets.sizes)) if rows is None else rows, lambda names: "; ".join(names))
    return pa.table(columns)


def csv_of_sets(sets: PatientSets, provenance: Provenance) -> bytes:
    """Every row with its cutoffs and where they come from; cells are safe in a spreadsheet."""
    import pyarrow as pa
    import pyarrow.csv

    columns = _columns(sets, np.arange(len(sets.sizes)), lambda names: "; ".join(names))
    groups = _groups(sets.patients, sets.calibration)
    cutoffs = 1 - sets.calibration.class_thresholds(len(sets.sizes), len(sets.patients.classes), groups)
    for name, column in zip(sets.patients.classes, np.broadcast_to(cutoffs, sets.members.shape).T, strict=True):
        columns[f"cutoff({name})"] = np.ascontiguousarray(column)
    origin = {name: value for name, value in provenance.columns().items() if name not in columns}
    columns |= {name: [value] * len(sets.sizes) for name, value in origin.items()}
    out = io.BytesIO()
    pa.csv.write_csv(pa.table({plain_cell(name): _safe(values) for name, values in columns.items()}), out)
    return out.getvalue()


def parquet_of_sets(sets: PatientSets, provenance: Provenance) -> bytes:
    """The set as a list of names; provenance, the calibration with it, as JSON in the file's metadata `ppsets`."""
    import pyarrow.parquet as pq

    origin = json.dumps(provenance.document(), ensure_ascii=False)
    out = io.BytesIO()
    pq.write_table(table_of_sets(sets).replace_schema_metadata({"ppsets": origin}), out)
    return out.getvalue()


def table_of_sets(sets: PatientSets) -> "pa.Table":
    """Every row, the set as a list of names, in the types that `schema_of_sets` tells."""
    import pyarrow as pa

    return pa.table(_columns(sets, np.arange(len(sets.sizes)), list), schema=schema_of_sets(sets))


def schema_of_sets(sets: PatientSets) -> "pa.Schema":
    """The same for every batch of a data set, whatever is missing in one."""
    import pyarrow as pa

    patients = sets.patients
    types = dict.fromkeys((*patients.identifiers, *patients.groups), pa.string())
    types |= {"diagnoses": pa.int64(), "set": pa.list_(pa.string())}
    if patients.labels is not None:
        types |= {"label": pa.string(), "covered": pa.bool_()}
    if patients.novelty is not None:
        types |= {"novelty": pa.float64(), f"like {sets.watch.whose}": pa.bool_()}
    return pa.schema(types | {f"p({name})": pa.float64() for name in patients.classes})


def json_of_sets(sets: PatientSets, provenance: Provenance, notes: Sequence[str] = ()) -> str:
    """Everything, with the calibration itself."""
    patients = sets.patients
    names = list(patients.identifiers)
    whose = zip(*(patients.identifiers[name].tolist() for name in names), strict=True)
    told = [
        {
            **dict(zip(names, who, strict=True)),
            "set": members,
            "probabilities": dict(zip(patients.classes, shares, strict=True)),
            **({} if label is None else {"label": label}),
            **({} if patients.novelty is None else {"familiar": familiar}),
        }
        for who, members, shares, label, familiar in zip(
            whose, sets.ranked, sets.probabilities.tolist(), _labels(patients), sets.familiar, strict=True
        )
    ]
    document = {
        "patients": told,
        "counts": sets.counts(),
        "novelty": sets.alarm.document(),
        "notes": list(notes),
        "provenance": provenance.document(),
    }
    return json.dumps(document, ensure_ascii=False, indent=1)


def _columns(sets: PatientSets, rows: np.ndarray, written: Callable[[list[str]], object]) -> dict[str, object]:
    patients = sets.patients
    ranked = sets.ranked
    columns: dict[str, object] = {name: values[rows].tolist() for name, values in patients.identifiers.items()}
    columns |= {name: values[rows].tolist() for name, values in patients.groups.items()}
    columns["diagnoses"] = sets.sizes[rows]
    columns["set"] = [written(ranked[row]) for row in rows.tolist()]
    if patients.labels is not None:
        labels = _labels(patients)
        columns["label"] = [labels[row] for row in rows.tolist()]
        inside = sets.members[np.arange(len(sets.sizes)), patients.labels]
        columns["covered"] = [
            None if label < 0 else bool(hit)
            for label, hit in zip(patients.labels[rows].tolist(), inside[rows].tolist(), strict=True)
        ]
    if patients.novelty is not None:
        columns["novelty"] = patients.novelty[rows]
        columns[f"like {sets.watch.whose}"] = [sets.familiar[row] for row in rows.tolist()]
    for number, name in enumerate(patients.classes):
        columns[f"p({name})"] = sets.probabilities[rows, number]
    return columns


def _labels(patients: Records) -> list[str | None]:
    if patients.labels is None:
        return [None] * len(patients)
    names: list[str | None] = [*patients.classes, None]  # −1 is the last
    return [names[label] for label in patients.labels.tolist()]


def _safe(values: object) -> object:
    if not isinstance(values, list):
        return values
    known: dict[object, object] = {}
    return [known.setdefault(v, plain_cell(v)) if isinstance(v, str) else v for v in values]
