"""A CSV of a million rows with patients, counted for a release, against pandas.read_csv and numpy; and sets for a table
of 10,000 rows and 14 classes, from bytes to what is shown, against a row-by-row loop.

python -m benchmarks.tables
"""

import csv
import io
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from ppsets_core import Ledger, Records, calibrate, one_per_patient, plan
from ppsets_core.data import read_scores
from ppsets_core.data.source import open_source
from ppsets_core.diagnose.exports import as_table, csv_of
from ppsets_core.diagnose.set_table import sets_of

ROWS, CLASSES, MANY = 10_000, 14, 1_000_000


def table(rows: int, seed: int) -> bytes:
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, CLASSES, rows)
    logits = rng.normal(0, 1, (rows, CLASSES))
    logits[np.arange(rows), labels] += 3
    shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    names = [f"c{number}" for number in range(CLASSES)]
    lines = [
        f"n{i},{names[y]},{','.join(map(repr, row.tolist()))}"
        for i, (y, row) in enumerate(zip(labels, shares, strict=True))
    ]
    return "\n".join([",".join(["id", "label", *names]), *lines]).encode()


def plainly(data: bytes, cutoffs: dict[str, float]) -> list[tuple[str, str]]:
    """What anyone would write first: a dictionary for each row."""
    found = []
    for row in csv.DictReader(io.StringIO(data.decode())):
        ranked = sorted(cutoffs, key=lambda name: -float(row[name]))
        found.append((row["id"], "; ".join(name for name in ranked if float(row[name]) >= cutoffs[name])))
    return found


def best(of: Callable[[], object], times: int = 3) -> float:
    """The quickest of a few runs, in seconds of processor, so that other programs disturb it little."""
    taken = []
    for _ in range(times):
        start = time.process_time()
        of()
        taken.append(time.process_time() - start)
    return min(taken)


def million_rows(path: Path) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.dirichlet([1.0] * 3, MANY), columns=["a", "b", "c"])
    frame.insert(0, "label", rng.choice(["a", "b", "c"], MANY))
    frame.insert(0, "patient", [f"P{number}" for number in rng.integers(0, MANY, MANY)])
    frame.to_csv(path, index=False)


def by_pandas(path: Path) -> np.ndarray:
    """One record of each patient, the first, in 100 bins."""
    frame = pd.read_csv(path).drop_duplicates("patient")
    shares = frame[["a", "b", "c"]].to_numpy()
    truth = frame["label"].map({"a": 0, "b": 1, "c": 2}).to_numpy()
    return np.bincount(np.ceil((1 - shares[np.arange(len(frame)), truth]) * 100).astype(int))


def read_all(path: Path) -> list[Records]:
    opened = open_source(path)
    return [batch for task in opened.tasks for batch in opened.batches(task)]


def for_a_release(path: Path, folder: Path) -> None:
    """What `calibrate` does before it charges: choose, count, and hash who is charged."""
    records = one_per_patient(read_scores(path))
    records.counts(plan(len(records), 0.1, 1.0), Ledger(folder / "ledger.sqlite").cohorts(len(records)))


def reading() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "million.csv"
        million_rows(path)
        plain = best(lambda: by_pandas(path))
        opened = best(lambda: read_all(path))
        counted = best(lambda: for_a_release(path, Path(folder)), 2)
    print(f"{MANY:,} rows of CSV with patients: pandas and numpy {plain:.2f} s")
    print(f"read and checked: {opened:.2f} s, ratio {opened / plain:.2f}")
    print(f"chosen, counted and hashed for a release: {counted:.2f} s, ratio {counted / plain:.2f}")


def main() -> None:
    reading()
    calibration = calibrate(read_scores(table(3000, 0), "cal.csv"), 0.1, 4.0, per="diagnosis")
    data = table(ROWS, 1)
    cutoffs = dict(zip(calibration.classes, calibration.cutoffs, strict=True))

    def shown() -> None:
        sets = sets_of(read_scores(data, classes=calibration.classes, labels="optional"), calibration)
        assert sets.check is not None
        as_table(sets)

    sets = sets_of(read_scores(data, classes=calibration.classes, labels="optional"), calibration)
    ours, plain = best(shown), best(lambda: plainly(data, cutoffs))
    print(f"{ROWS:,} rows x {CLASSES} classes, read, checked, ranked, held against labels: {ours:.2f} s")
    print(f"row by row, without any check: {plain:.2f} s; ratio {ours / plain:.2f}")
    print(f"as CSV with provenance: {best(lambda: csv_of(sets)):.2f} s")


if __name__ == "__main__":
    main()
