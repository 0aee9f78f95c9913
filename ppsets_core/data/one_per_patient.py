"""One record per patient, chosen from hashes of the names alone: 16 bytes a row, whatever the length of a name."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from ppsets_core.data.records import Records, chosen

BUCKETS = 64


def one_per_patient(records: Records, seed: int = 0) -> Records:
    """Keep one record per patient, so that ε protects the patient.

    Which one depends on the seed, the patient's name and how many records the patient has: never on a score, and never
    on another patient, so that replacing a patient still replaces one record. A record that names nobody stays, and
    without a column of patients all do.

    Parameters
    ----------
    records : as `read_scores` returns them
    seed : another seed chooses other records
    """
    if records.patients is None:
        return records
    return replace(chosen(records, rows_to_use(records.patients.tolist(), seed)), unit="patient")


def rows_to_use(names: Sequence[str], seed: int = 0) -> np.ndarray:
    """The places of one record of each patient, and of all that name nobody."""
    return np.flatnonzero(choose_rows(patient_hashes(names, seed)))


def patient_hashes(names: Iterable[str], seed: int = 0) -> np.ndarray:
    """Two numbers for each name, the same for the same patient; zeros for nobody. 128 bits do not meet by chance."""
    digests = hash_names(hashlib.sha256(f"{seed}:".encode()), names, 16)
    return np.frombuffer(digests, dtype=">u8").reshape(-1, 2).astype(np.uint64)


def hash_names(begun: "hashlib._Hash | hashlib.blake2b", names: Iterable[str], size: int) -> bytes:
    """So many bytes for each name, of a hash that has begun; zeros for nobody."""
    found, nobody = list[bytes](), bytes(size)
    for name in names:
        if name:
            one = begun.copy()
            one.update(name.encode("utf-8", "surrogatepass"))
            found.append(one.digest()[:size])
        else:
            found.append(nobody)
    return b"".join(found)


def choose_rows(hashes: np.ndarray) -> np.ndarray:
    """Which rows stay: one of each patient, and those that name nobody. Bucket by bucket, to bound memory."""
    bucket, kept = (hashes[:, 0] >> np.uint64(58)).astype(np.uint8), np.zeros(len(hashes), dtype=bool)
    for number in range(BUCKETS):
        rows = np.flatnonzero(bucket == number)
        kept[rows] = _kept_rows(hashes[rows])
    return kept


def _kept_rows(hashes: np.ndarray) -> np.ndarray:
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


def _modulo(high: np.ndarray, low: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """(high · 2⁶⁴ + low) mod counts, for counts below 2³²."""
    divisor = counts.astype(np.uint64)
    carry = (np.uint64(2**64 - 1) % divisor + np.uint64(1)) % divisor
    return ((high % divisor * carry + low % divisor) % divisor).astype(np.int64)
