"""Calibration records: scores, and all that must travel with them until something is released."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType

import numpy as np

from ppsets_core.errors import InputError


@dataclass(frozen=True, eq=False)
class Records:
    """One entry per record.

    `identity`: all scores of the file as it was read, by which the ledger knows the same records again, whichever of
    them are used. `classes`, `probabilities`, `labels`: where the file has them. `patients`: where it has a column for
    them, '' for a record that names nobody and so counts as a patient of its own. `groups`: columns of text, such as a
    site, by name. `model`: the fingerprint of the model that gave the scores. `unit`: what ε protects one of, a
    'record', or a 'patient' after `one_per_patient`; it depends on the file's columns and that choice, on no record.
    `novelty`: how unlike the X-rays that the model learnt from each is, in [0, 1], where it is known.
    `splits`: the part of the data that each is of, where the file says so; `left_out`: how many were of training.
    """

    source: str
    scores: np.ndarray
    identity: np.ndarray
    classes: tuple[str, ...] = ()
    probabilities: np.ndarray | None = None
    labels: np.ndarray | None = None
    patients: np.ndarray | None = None
    model: str | None = None
    groups: Mapping[str, np.ndarray] = field(default_factory=lambda: MappingProxyType({}))
    unit: str = "record"
    novelty: np.ndarray | None = None
    splits: np.ndarray | None = None
    left_out: int = 0

    def __len__(self) -> int:
        return len(self.scores)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Records):
            return NotImplemented
        return all(_same(getattr(self, f.name), getattr(other, f.name)) for f in fields(self))

    __hash__ = None  # type: ignore[assignment]

    @property
    def has_novelty(self) -> bool:
        return self.novelty is not None

    @property
    def has_patients(self) -> bool:
        return self.patients is not None

    @property
    def patient_count(self) -> int | None:
        """How many patients there are, each record without a name being one; None where no column names them."""
        if self.patients is None:
            return None
        named = self.patients[self.patients != ""]
        return len(np.unique(named)) + len(self) - len(named)


def one_per_patient(records: Records, seed: int = 0) -> Records:
    """Keep one record of each patient, so that ε protects the patient and not only the record.

    Which one depends on the seed, the patient's name and how many records the patient has: never on a score, and never
    on another patient, so that replacing a patient still replaces one record. A record that names nobody stays, and
    without a column of patients all do.
    """
    if records.patients is None:
        return records
    unnamed, named = np.flatnonzero(records.patients == ""), np.flatnonzero(records.patients != "")
    patients, index, counts = np.unique(records.patients[named], return_inverse=True, return_counts=True)
    offsets = np.cumsum(counts) - counts
    picks = [_pick(str(patient), int(count), seed) for patient, count in zip(patients, counts, strict=True)]
    kept = named[np.argsort(index, kind="stable")[offsets + np.array(picks, dtype=np.int64)]]
    return replace(chosen(records, np.sort(np.concatenate([unnamed, kept]))), unit="patient")


def of_split(records: Records, split: str) -> Records:
    """The records of one part of the data, known to the ledger as that part alone, as if it were a file of its own."""
    if records.splits is None:
        raise InputError(f"{records.source}: there is no column 'split' that says which part each row is of.")
    part = chosen(records, np.flatnonzero(records.splits == split))
    return replace(part, identity=part.scores)


def chosen(records: Records, kept: np.ndarray) -> Records:
    """Some of the records, known to the ledger as the whole they come from."""

    def keep(values: np.ndarray | None) -> np.ndarray | None:
        return None if values is None else values[kept]

    return replace(
        records,
        scores=records.scores[kept],
        probabilities=keep(records.probabilities),
        labels=keep(records.labels),
        patients=keep(records.patients),
        groups={name: values[kept] for name, values in records.groups.items()},
        novelty=keep(records.novelty),
        splits=keep(records.splits),
    )


def _pick(patient: str, count: int, seed: int) -> int:
    return int.from_bytes(patient_digest(patient, seed)) % count


def patient_digest(patient: str, seed: int = 0) -> bytes:
    """128 bits that depend on the seed and the patient's name alone."""
    return hashlib.sha256(f"{seed}:{patient}".encode(errors="surrogatepass")).digest()[:16]


def _same(one: object, other: object) -> bool:
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_same(one[name], other[name]) for name in one)
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return isinstance(one, np.ndarray) and isinstance(other, np.ndarray) and np.array_equal(one, other)
    return one == other
