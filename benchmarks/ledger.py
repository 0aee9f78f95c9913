"""How long a charge of a million patients takes, as a ratio to a bare SQLite insert of as many rows.

python -m benchmarks.ledger [PATIENTS [ROUNDS]]

Each round times the insert and the charges one after the other; the median of the rounds' ratios is printed.
"""

import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from ppsets_core import Ledger, Records

CHARGES = ("first charge", "charged again", "as many others, half of whom were charged before")


def main(patients: int = 10**6, rounds: int = 3) -> None:
    rng = np.random.default_rng(0)
    rows = [(int(one), 0.5) for one in rng.integers(2**62, size=patients)]
    ratios = []
    for _ in range(rounds):
        first, others = (_records(rng, patients, start) for start in (0, patients // 2))
        with tempfile.TemporaryDirectory() as folder:
            bare = _seconds(_insert, Path(folder, "bare.sqlite"), rows)
            ledger = Ledger(Path(folder, "ledger.sqlite"))
            charge = partial(ledger.charge, epsilon=1, account=ledger.open_account("ward", 10), kind="check")
            ratios.append([_seconds(charge, records) / bare for records in (first, first, others)])
    print(f"{patients:,} patients, times of a bare insert of as many rows, median of {rounds} (least to most)")
    for which, found in zip(CHARGES, zip(*ratios, strict=True), strict=True):
        print(f"{which}: {statistics.median(found):.2f} ({min(found):.2f} to {max(found):.2f})")


def _records(rng: np.random.Generator, patients: int, start: int) -> Records:
    scores = rng.random(patients)
    names = np.array([f"patient {start + i}" for i in range(patients)], dtype=np.dtypes.StringDType())
    return Records("scores", scores, patients=names)


def _insert(path: Path, rows: list[tuple[int, float]]) -> None:
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE losses (patient INTEGER, epsilon REAL)")
        db.executemany("INSERT INTO losses VALUES (?, ?)", rows)
    db.close()


def _seconds(work: Callable[..., object], *given: object) -> float:
    start = time.perf_counter()
    work(*given)
    return time.perf_counter() - start


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
