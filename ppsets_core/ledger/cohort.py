"""Whom a release is charged to: keyed hashes of patients and of records, never a name or a score.

They can be computed batch by batch, in any order and on any machine, and added up. See docs/method.md#budget.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from ppsets_core.errors import InputError
from ppsets_core.files.names import same_names
from ppsets_core.records.records import Records

MOST = 10**7
"""Beyond so many records a release is charged to the data set as a whole."""
CELLS = 2**23  # scores are alike within half of 1/CELLS, 6e-8, which is more than float32 changes one
_WHOLE = 2**128
_BLOCK = 256
_MANY = 2**16  # of so many records most blocks are needed, and the next batch needs them again


@dataclass(frozen=True, eq=False)
class Cohort:
    """One entry per record: its patient, or 0 where it names nobody, and its score in two overlapping grids of cells.

    Scores less than half a cell apart share a cell of one grid or the other, so that the same record is known again
    from probabilities, scores or float32; two records of one score are taken for the same. `identity`: a sum over the
    records, the same in any order. `by_patient`: whether there is a column of patients at all. `whole`: of a data set
    of too many, of which the identity alone is kept.
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
        if self.by_patient != other.by_patient:
            raise InputError("One part of the data set has a column of patients and another has none.")
        patients = np.concatenate([self.patients, other.patients])
        contents = np.concatenate([self.contents, other.contents])
        return Cohort((self.identity + other.identity) % _WHOLE, patients, contents, self.by_patient, self.whole)

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
        return f"{self.identity:032x}"

    @property
    def counted_by(self) -> str:
        if self.whole or len(self) > MOST:  # public numbers alone, for it is exported
            return "data set"
        return "patient" if self.by_patient else "record"


def cohort_of(key: bytes, scores: np.ndarray, patients: Sequence[str] | np.ndarray | None) -> Cohort:
    """The cohort of a batch of records. The key is the ledger's `cohort_key`."""
    cells = np.asarray(scores, dtype=np.float64) * CELLS
    first, second = _cells(key, b"grid 0", np.floor(cells)), _cells(key, b"grid 1", np.floor(cells + 0.5))
    named = np.zeros(len(cells), dtype=np.uint64) if patients is None else patient_hashes(key, patients)
    return Cohort(_total(first), named, np.column_stack([first[:, 0], second[:, 0]]), patients is not None)


def cohort_of_records(key: bytes, records: Records, *, whole: bool = False) -> Cohort:
    """The same of records; `whole` of a batch of more than so many."""
    if not whole:
        return cohort_of(key, records.scores, records.patients)
    none = np.empty(0, dtype=np.uint64)
    first = _all_cells(key, b"grid 0")[np.floor(records.scores * CELLS).astype(np.int64)]
    return Cohort(_total(first), none, none.reshape(0, 2), records.patients is not None, whole=True)


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


def _total(numbers: np.ndarray) -> int:
    """The sum of 128-bit numbers, given as two halves each, modulo 2¹²⁸."""
    quarters = np.ascontiguousarray(numbers).view("<u4").astype(np.uint64).sum(axis=0)
    return sum(int(quarter) << 32 * place for place, quarter in enumerate(quarters)) % _WHOLE


def _cells(key: bytes, grid: bytes, cells: np.ndarray) -> np.ndarray:
    """Two 64-bit numbers for each cell, from a keyed stream of which the cells are places."""
    if len(cells) >= _MANY:
        return _all_cells(key, grid)[cells.astype(np.int64)]
    block, place = np.divmod(cells.astype(np.int64), _BLOCK)
    blocks, number = np.unique(block, return_inverse=True)
    return _stream(key, grid, blocks.tolist()).reshape(len(blocks), _BLOCK, 2)[number, place]


def _stream(key: bytes, grid: bytes, blocks: Iterable[int]) -> np.ndarray:
    stream = (hashlib.shake_256(key + grid + b"%d" % one).digest(16 * _BLOCK) for one in blocks)
    return np.frombuffer(b"".join(stream), dtype="<u8")


@lru_cache(maxsize=2)
def _all_cells(key: bytes, grid: bytes) -> np.ndarray:
    """The numbers of every cell, 128 MB, for data sets that have most blocks of them in every batch."""
    return _stream(key, grid, range(CELLS // _BLOCK + 1)).reshape(-1, 2)
