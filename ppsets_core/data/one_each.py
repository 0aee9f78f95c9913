"""One record of each patient, over a data set: the choice that `one_per_patient` makes, from hashes of the names alone.

A row costs 16 bytes, whatever the length of a name; hashes of 128 bits do not meet by chance.
"""

from collections.abc import Sequence

import numpy as np

from ppsets_core.data.records import patient_digest
from ppsets_core.data.score_file import patients_in
from ppsets_core.data.source import RowRange, Source

UNNAMED = bytes(16)
BUCKETS = 64


def patient_hashes(data_set: Source, task: Sequence[RowRange]) -> np.ndarray:
    """Two numbers for each row of a task, the same for the same patient; zeros where the row names nobody."""
    found = [np.zeros((0, 2), dtype=np.uint64)]
    for columns in data_set.columns(task, ["patient"]):
        names = patients_in(columns.values)
        assert names is not None
        digests = b"".join(patient_digest(name) if name else UNNAMED for name in names.tolist())
        found.append(np.frombuffer(digests, dtype=">u8").reshape(-1, 2).astype(np.uint64))
    return np.concatenate(found)


def bucket_of(hashes: np.ndarray) -> np.ndarray:
    """Which of the buckets each row goes to: all rows of a patient to the same."""
    return (hashes[:, 0] >> np.uint64(58)).astype(np.uint8)


def kept_rows(hashes: np.ndarray) -> np.ndarray:
    """Which rows of one bucket stay, given in the order of the data set: one of each patient, and the unnamed."""
    kept = np.asarray(~hashes.any(axis=1))
    named = np.flatnonzero(~kept)
    if not len(named):
        return kept
    high, low = hashes[named].T
    order = np.lexsort((low, high))
    high, low = high[order], low[order]
    starts = np.flatnonzero(np.append(True, (np.diff(high) != 0) | (np.diff(low) != 0)))
    counts = np.diff(np.append(starts, len(order)))
    kept[named[order[starts + _modulo(high[starts], low[starts], counts)]]] = True
    return kept


def choose_rows(hashes: np.ndarray) -> np.ndarray:
    """The same over all buckets, one after the other, so that memory hardly grows by it."""
    bucket, kept = bucket_of(hashes), np.zeros(len(hashes), dtype=bool)
    for number in range(BUCKETS):
        rows = np.flatnonzero(bucket == number)
        kept[rows] = kept_rows(hashes[rows])
    return kept


def _modulo(high: np.ndarray, low: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """(high · 2⁶⁴ + low) mod counts, for counts below 2³²."""
    divisor = counts.astype(np.uint64)
    carry = (np.uint64(2**64 - 1) % divisor + np.uint64(1)) % divisor
    return ((high % divisor * carry + low % divisor) % divisor).astype(np.int64)
