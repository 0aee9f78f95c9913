"""Whom a release is charged to: keyed hashes of patients and of records, never a name or a score.

They can be computed batch by batch, in any order and on any machine, and added up. See docs/method.md#budget.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from ppsets_core.data.records import Records
from ppsets_core.errors import InputError
from ppsets_core.files.names import same_names
from ppsets_core.method.bins import FEW, Histogram

MOST_RECORDS = 10**7
"""A release of more records is charged to the data set as a whole."""
CELLS = 2**23  # scores are alike within half of 1/CELLS, 6e-8, which is more than float32 changes one
COARSE, COARSE_GRID = 2**16, b"coarse grid"
_WHOLE = 2**128
_BLOCK = 256
_MANY = 2**16  # this many records need most blocks, and the next batch needs them again
_AT_ONCE = 2**13  # cells whose numbers are in memory together
_DIGITS, _DIGIT = np.uint64(18), np.uint64(2**18 - 1)  # 2¹³ numbers of 32 bits times one of 18 add up within 64 bits


@dataclass(frozen=True, eq=False)
class Cohort:
    """Whom a release is charged to: one entry per record.

    patients: the hash of the record's patient, 0 where it names nobody.
    contents: the hash of its score's cell in two overlapping grids. Scores less than half a cell apart share a cell of
        one grid or the other, so that the same record is recognised from probabilities, scores or float32; two records
        with the same score are taken for one.
    by_patient: whether there is a column of patients at all.
    whole: whether the records are too many to keep, so that only `identity` is.
    identity: the sum over the records, in any order, of 128 keyed bits for the record's cell of a coarse grid. Without
        the key it is a random number, which reveals no record and cannot be tried with guesses. Two data sets with as
        many records in each of the 65,536 cells are charged as the same, which errs on the safe side.
    """

    identity: int
    patients: np.ndarray
    contents: np.ndarray
    by_patient: bool
    whole: bool = False

    def __len__(self) -> int:
        return len(self.patients)

    def __add__(self, other: "Cohort") -> "Cohort":
        """All records of both: batches of one data set."""
        if len(self) and len(other) and self.by_patient != other.by_patient:
            raise InputError("One part of the data set has a column of patients and another has none.")
        patients = np.concatenate([self.patients, other.patients])
        contents = np.concatenate([self.contents, other.contents])
        identity = (self.identity + other.identity) % _WHOLE
        return Cohort(identity, patients, contents, self.by_patient or other.by_patient, self.whole)

    @cached_property
    def _named(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return np.unique(self.patients[self.patients > 0], return_inverse=True, return_counts=True)

    @property
    def named(self) -> np.ndarray:
        """The patients, sorted, each once. They are the first units; records that name nobody are the rest."""
        return self._named[0]

    @cached_property
    def counts(self) -> np.ndarray:
        """How many records each unit has."""
        return np.concatenate([self._named[2], np.ones(int((self.patients == 0).sum()), dtype=np.int64)])

    @cached_property
    def unit_of(self) -> np.ndarray:
        """The number of each record's unit."""
        units = np.empty(len(self), dtype=np.int64)
        units[self.patients > 0] = self._named[1]
        units[self.patients == 0] = np.arange(len(self.named), len(self.counts))
        return units

    @property
    def name(self) -> str:
        """The identity as the ledger writes it, where it counts the data set as a whole."""
        return f"coarse:{self.identity:032x}"

    @property
    def counted_by(self) -> str:
        if self.whole or len(self) > MOST_RECORDS:  # public numbers alone, for it is exported
            return "data set"
        return "patient" if self.by_patient else "record"


@dataclass(frozen=True, eq=False)
class StoredCohort:
    """A cohort as the ledger stores it: sorted hashes, each once, in an order that reveals nothing about the data.

    named: the patients. counts: how many records each had. contents: scores of records that name a patient.
    nameless: scores of records that name nobody.
    """

    named: np.ndarray
    counts: np.ndarray
    contents: np.ndarray
    nameless: np.ndarray

    @classmethod
    def of(cls, cohort: Cohort) -> "StoredCohort":
        counts = cohort.counts[: len(cohort.named)].astype("<u4")
        known, unknown = (_each_once(cohort.contents[part]) for part in (cohort.patients > 0, cohort.patients == 0))
        return cls(cohort.named, counts, known, unknown)

    def times(self, cohort: Cohort) -> np.ndarray:
        """How many records of each unit of the other cohort were in this one.

        Patients are recognised by name. A record that names nobody, here or there, is recognised by its score;
        otherwise the same file without its column of patients would have a new budget.
        """
        found = _among(cohort.contents, self.nameless)
        rest = cohort.patients == 0
        found[rest] |= _among(cohort.contents[rest], self.contents)
        times = np.bincount(cohort.unit_of, weights=found, minlength=len(cohort.counts)).astype(np.int64)
        if len(self.named):
            place = np.searchsorted(self.named, cohort.named) % len(self.named)
            times[: len(cohort.named)] += np.where(self.named[place] == cohort.named, self.counts[place], 0)
        return times


def _each_once(hashes: np.ndarray) -> np.ndarray:
    """Like `np.unique`, and several times as fast for millions of hashes that are nearly all different."""
    ordered = np.sort(hashes, axis=None)
    return ordered[np.diff(ordered, prepend=ordered[:1] - np.uint64(1)) != 0]


def _among(contents: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Whether each record's score, in either grid, is among those known."""
    found = np.zeros(len(contents), dtype=bool)
    for values in contents.T if len(known) else ():
        found |= known[np.searchsorted(known, values) % len(known)] == values
    return found


def cohort_of(key: bytes, scores: np.ndarray, patients: Sequence[str] | np.ndarray | None) -> Cohort:
    """The cohort of a batch of records. The key is the ledger's `cohort_key`."""
    builder = CohortBuilder(key)
    builder.add_batch(np.asarray(scores, dtype=np.float64), patients)
    return builder.total()


class CohortBuilder:
    """Accumulates the cohort of records that come in batches. `whole`: keep only the identity of the data set."""

    def __init__(self, key: bytes, *, whole: bool = False) -> None:
        self._key, self._whole, self._by_patient, self._rows = key, whole, False, 0
        self._coarse = Histogram(COARSE + 1)
        self._patients = [np.empty(0, dtype=np.uint64)]
        self._contents = [np.empty((0, 2), dtype=np.uint64)]

    def add(self, records: Records) -> None:
        self.add_batch(records.scores, records.patients)

    def add_batch(self, scores: np.ndarray, patients: Sequence[str] | np.ndarray | None) -> None:
        self._by_patient, self._rows = patients is not None, self._rows + len(scores)
        for start in range(0, len(scores), FEW):
            self._coarse.add(scores[start : start + FEW] * COARSE)
        if not self._whole:
            named = np.zeros(len(scores), dtype=np.uint64) if patients is None else patient_hashes(self._key, patients)
            cells = scores * CELLS
            self._patients.append(named)
            self._contents.append(
                np.column_stack([self._halves(b"grid 0", cells), self._halves(b"grid 1", cells + 0.5)])
            )

    def total(self) -> Cohort:
        identity = _sum(self._key, COARSE_GRID, self._coarse.counts())
        patients, contents = np.concatenate(self._patients), np.concatenate(self._contents)
        return Cohort(identity, patients, contents, self._by_patient, self._whole)

    def _halves(self, grid: bytes, cells: np.ndarray) -> np.ndarray:
        """64 bits for each cell, from the keyed stream that has a place for every cell."""
        places = cells.astype(np.int64)
        if self._rows >= _MANY:
            return _all_halves(self._key, grid).take(places)
        block, place = np.divmod(places, _BLOCK)
        blocks, number = np.unique(block, return_inverse=True)
        return _stream(self._key, grid, blocks.tolist()).reshape(len(blocks), _BLOCK, 2)[number, place, 0]


def patients_only(key: bytes, patients: Sequence[str]) -> Cohort:
    """The cohort of X-rays without scores, as used in training."""
    hashes = patient_hashes(key, patients)
    return Cohort(0, hashes, np.empty((len(hashes), 0), dtype=np.uint64), True)


def patient_hashes(key: bytes, patients: Sequence[str] | np.ndarray) -> np.ndarray:
    """One hash for all spellings of a name; 0 for no name."""
    names = same_names([str(patient) for patient in patients])
    blank = hashlib.blake2b(key=hashlib.sha256(b"patient:" + key).digest(), digest_size=8)

    def hashed(name: str) -> bytes:
        if not name:
            return bytes(8)
        digest = blank.copy()
        digest.update(name.encode(errors="surrogatepass"))
        return digest.digest()

    return np.frombuffer(b"".join(map(hashed, names)), dtype="<u8")


def _sum(key: bytes, grid: bytes, counts: np.ndarray) -> int:
    """Σ count · number over all cells, modulo 2¹²⁸; all records of a cell share its number."""
    total = 0
    for first in range(0, len(counts), _AT_ONCE):
        some = counts[first : first + _AT_ONCE].astype(np.uint64)
        blocks = range(first // _BLOCK, -(-(first + len(some)) // _BLOCK))
        total += _times(some, _stream(key, grid, blocks)[: len(some)]) if some.any() else 0
    return total % _WHOLE


def _times(counts: np.ndarray, numbers: np.ndarray) -> int:
    """Multiplied in parts, so that products do not overflow."""
    quarters, total, shift = numbers.view("<u4").astype(np.uint64), 0, 0
    while counts.any():
        found = (counts & _DIGIT) @ quarters
        total += sum(int(of) << 32 * place + shift for place, of in enumerate(found))
        counts, shift = counts >> _DIGITS, shift + int(_DIGITS)
    return total


def _stream(key: bytes, grid: bytes, blocks: Iterable[int]) -> np.ndarray:
    stream = (hashlib.shake_256(key + grid + b"%d" % one).digest(16 * _BLOCK) for one in blocks)
    return np.frombuffer(b"".join(stream), dtype="<u8").reshape(-1, 2)


@lru_cache(maxsize=2)
def _all_halves(key: bytes, grid: bytes) -> np.ndarray:
    """The 64 bits of every cell (64 MB), for data sets that need most of them in every batch."""
    return np.concatenate([_stream(key, grid, [block])[:, 0] for block in range(CELLS // _BLOCK + 1)])
