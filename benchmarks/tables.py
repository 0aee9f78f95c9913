"""Sets for a table of 10,000 rows and 14 classes: the time from bytes to what is shown, against a row-by-row loop.

python -m benchmarks.tables
"""

import csv
import io
import time
from collections.abc import Callable

import numpy as np

from ppsets_core import calibrate
from ppsets_core.data import read_scores
from ppsets_core.diagnose.exports import as_table, csv_of
from ppsets_core.diagnose.set_table import sets_of

ROWS, CLASSES = 10_000, 14


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
    """The quickest of a few runs: what the machine can do when nothing disturbs it."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        of()
        taken.append(time.perf_counter() - start)
    return min(taken)


def main() -> None:
    calibration = calibrate(read_scores(table(3000, 0), "cal.csv"), 0.1, 4.0, per="diagnosis")
    data = table(ROWS, 1)
    cutoffs = dict(zip(calibration.classes, (1 - t for t in calibration.thresholds), strict=True))

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
