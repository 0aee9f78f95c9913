"""Calibration records as read: scores, and where the file has them probabilities, labels and patients."""

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np


@dataclass(frozen=True)
class Records:
    """One entry a record. `uploaded` keeps all scores of the file, for the ledger to know the same file again."""

    source: str
    scores: np.ndarray
    uploaded: np.ndarray
    classes: tuple[str, ...] = ()
    probabilities: np.ndarray | None = None
    labels: np.ndarray | None = None
    patients: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.scores)

    @property
    def patient_count(self) -> int | None:
        return None if self.patients is None else len(np.unique(self.patients))

    @cached_property
    def unit(self) -> str:
        """What ε protects one of: a patient where each is known to have one record here, else a record."""
        return "patient" if self.patient_count == len(self) else "record"


def one_per_patient(records: Records, seed: int = 0) -> Records:
    """Keep one record of each patient, so that ε protects the patient and not only the record.

    Which one depends on the seed, the patient's name and how many records the patient has: never on a score, and never
    on another patient, so that replacing a patient still replaces one record. Without patients all records stay.
    """
    if records.patients is None:
        return records
    patients, index = np.unique(records.patients, return_inverse=True)
    counts = np.bincount(index)
    offsets = np.cumsum(counts) - counts
    picks = np.array([_pick(str(patient), int(count), seed) for patient, count in zip(patients, counts, strict=True)])
    kept = np.sort(np.argsort(index, kind="stable")[offsets + picks])

    def keep(values: np.ndarray | None) -> np.ndarray | None:
        return None if values is None else values[kept]

    return replace(
        records,
        scores=records.scores[kept],
        probabilities=keep(records.probabilities),
        labels=keep(records.labels),
        patients=keep(records.patients),
    )


def _pick(patient: str, count: int, seed: int) -> int:
    digest = hashlib.sha256(f"{seed}:{patient}".encode(errors="surrogatepass")).digest()
    return int.from_bytes(digest[:16]) % count
