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
from ppsets_core.method.bins import FEW, Places

MOST = 10**7
"""Beyond so many records a release is charged to the data set as a whole."""
CELLS = 2**23  # scores are alike within half of 1/CELLS, 6e-8, which is more than float32 changes one
COARSE, COARSE_GRID = 2**16, b"coarse grid"
_FORMER = 32  # letters of a name by fine cells; others are longer
_WHOLE = 2**128
_BLOCK = 256
_MANY = 2**16  # of so many records most blocks are needed, and the next batch needs them again
_AT_ONCE = 2**13  # cells whose numbers are in memory together
_DIGITS, _DIGIT = np.uint64(18), np.uint64(2**18 - 1)  # 2¹³ numbers of 32 bits times one of 18 add up within 64 bits


@dataclass(frozen=True, eq=False)
class Cohort:
    """One entry per record: its patient, or 0 where it names nobody, and its score in two overlapping grids of cells.

    Scores less than half a cell apart share a cell of one grid or the other, so that the same record is known again
    from probabilities, scores or float32; two records of one score are taken for the same. `by_patient`: whether there
    is a column of patients at all. `whole`: of a data set of too many, of which the identity alone is kept.

    `identity`: a sum over the records, the same in any order, of 128 keyed bits for each record's cell of a coarse
    grid. Without the key it is a random number, which tells of no record and cannot be tried with guesses; with it, two
    data sets that have as many records in each of the 65,536 cells are the same, and are charged as the same, which
    errs on the safe side. `former`: the sum over fine cells by which a ledger may know the data set from before.
    """

    identity: int
    patients: np.ndarray
    contents: np.ndarray
    by_patient: bool
    whole: bool = False
    former: int | None = None

    def __len__(self) -> int:
        return len(self.patients)

    def __add__(self, other: "Cohort") -> "Cohort":
        """All records of both: batches of one data set."""
        if len(self) and len(other) and self.by_patient != other.by_patient:
            raise InputError("One part of the data set has a column of patients and another has none.")
        patients = np.concatenate([self.patients, other.patients])
        contents = np.concatenate([self.contents, other.contents])
        by_patient = self.by_patient or other.by_patient
        identity, former = (self.identity + other.identity) % _WHOLE, None
        if self.former is not None and other.former is not None:
            former = (self.former + other.former) % _WHOLE
        return Cohort(identity, patients, contents, by_patient, self.whole, former)

    @cached_property
    def _named(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return np.unique(self.patients[self.patients > 0], return_inverse=True, return_counts=True)

    @property
    def named(self) -> np.ndarray:
        """The patients, sorted, each once. They are the first units; the records that name nobody are the rest."""
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
    def names(self) -> tuple[str, ...]:
        """All names by which the ledger may know it."""
        return (self.name,) if self.former is None else (self.name, f"{self.former:032x}")

    @property
    def counted_by(self) -> str:
        if self.whole or len(self) > MOST:  # public numbers alone, for it is exported
            return "data set"
        return "patient" if self.by_patient else "record"


def cohort_of(
    key: bytes, scores: np.ndarray, patients: Sequence[str] | np.ndarray | None, *, former: bool = False
) -> Cohort:
    """The cohort of a batch of records. The key is the ledger's `cohort_key`."""
    gathering = Gathering(key, former=former)
    gathering.add_batch(np.asarray(scores, dtype=np.float64), patients)
    return gathering.total()


class Gathering:
    """The cohort of records that come batch by batch. `whole`: of so many that the identity alone is kept. `former`:
    with the identity by which such were known before, too."""

    def __init__(self, key: bytes, *, whole: bool = False, former: bool = False) -> None:
        self._key, self._whole, self._by_patient, self._rows = key, whole, False, 0
        self._coarse, self._fine = Places(COARSE + 1), Places(CELLS + 1) if former else None
        self._patients = [np.empty(0, dtype=np.uint64)]
        self._contents = [np.empty((0, 2), dtype=np.uint64)]

    def add(self, records: Records) -> None:
        self.add_batch(records.scores, records.patients)

    def add_batch(self, scores: np.ndarray, patients: Sequence[str] | np.ndarray | None) -> None:
        self._by_patient, self._rows = patients is not None, self._rows + len(scores)
        for start in range(0, len(scores), FEW):
            some = scores[start : start + FEW]
            self._coarse.add(some * COARSE)
            if self._fine is not None:
                self._fine.add(some * CELLS)
        if not self._whole:
            named = np.zeros(len(scores), dtype=np.uint64) if patients is None else patient_hashes(self._key, patients)
            cells = scores * CELLS
            self._patients.append(named)
            self._contents.append(
                np.column_stack([self._halves(b"grid 0", cells), self._halves(b"grid 1", cells + 0.5)])
            )

    def total(self) -> Cohort:
        identity = _sum(self._key, COARSE_GRID, self._coarse.counts())
        former = None if self._fine is None else _sum(self._key, b"grid 0", self._fine.counts())
        patients, contents = np.concatenate(self._patients), np.concatenate(self._contents)
        return Cohort(identity, patients, contents, self._by_patient, self._whole, former)

    def _halves(self, grid: bytes, cells: np.ndarray) -> np.ndarray:
        """64 bits for each cell, from a keyed stream of which the cells are places."""
        places = cells.astype(np.int64)
        if self._rows >= _MANY:
            return _all_halves(self._key, grid).take(places)
        block, place = np.divmod(places, _BLOCK)
        blocks, number = np.unique(block, return_inverse=True)
        return _stream(self._key, grid, blocks.tolist()).reshape(len(blocks), _BLOCK, 2)[number, place, 0]


def is_former(name: str) -> bool:
    """Whether a data set was written down by the sum over its fine cells."""
    return len(name) == _FORMER


def patients_only(key: bytes, patients: Sequence[str]) -> Cohort:
    """The cohort of X-rays that have no score: those a network learns from."""
    hashes = patient_hashes(key, patients)
    return Cohort(0, hashes, np.empty((len(hashes), 0), dtype=np.uint64), True)


def patient_hashes(key: bytes, patients: Sequence[str] | np.ndarray) -> np.ndarray:
    """Alike for every spelling of a name, and 0 for none."""
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
    """Σ count · number over all cells, modulo 2¹²⁸: records of one cell have the same number, which is made once."""
    total = 0
    for first in range(0, len(counts), _AT_ONCE):
        some = counts[first : first + _AT_ONCE].astype(np.uint64)
        blocks = range(first // _BLOCK, -(-(first + len(some)) // _BLOCK))
        total += _times(some, _stream(key, grid, blocks)[: len(some)]) if some.any() else 0
    return total % _WHOLE


def _times(counts: np.ndarray, numbers: np.ndarray) -> int:
    """Both are taken apart, lest their products overflow."""
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
    """Those of every cell, 64 MB, for data sets that have most blocks of them in every batch."""
    return np.concatenate([_stream(key, grid, [block])[:, 0] for block in range(CELLS // _BLOCK + 1)])
