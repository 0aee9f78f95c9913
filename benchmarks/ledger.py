"""How long a charge of a million patients takes, as a ratio to a bare SQLite insert of as many rows.

python -m benchmarks.ledger [PATIENTS]
"""

import sqlite3
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from ppsets_core import Ledger, Records


def main(patients: int = 10**6) -> None:
    rng = np.random.default_rng(0)
    scores, names = (
        rng.random(patients),
        np.array([f"patient {i}" for i in range(patients)], dtype=np.dtypes.StringDType()),
    )
    records = Records("scores", scores, scores, patients=names)
    with tempfile.TemporaryDirectory() as folder:
        rows = [(int(one), 0.5) for one in rng.integers(2**62, size=patients)]
        start = time.perf_counter()
        with sqlite3.connect(Path(folder, "bare.sqlite")) as db:
            db.execute("CREATE TABLE losses (patient INTEGER, epsilon REAL)")
            db.executemany("INSERT INTO losses VALUES (?, ?)", rows)
        db.close()
        bare = time.perf_counter() - start
        ledger = Ledger(Path(folder, "ledger.sqlite"))
        account = ledger.open_account("ward", 10)
        print(f"{patients:,} patients, times of a bare insert of as many rows")
        for which in ("first charge", "charged again"):
            start = time.perf_counter()
            ledger.charge(records, 1, account, kind="check")
            print(f"{which}: {(time.perf_counter() - start) / bare:.2f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
