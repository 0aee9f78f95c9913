"""Data sets for tests: the same records as a CSV and as Parquet in any number of parts; files as bytes."""

import io
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from ppsets_core import Records

CLASSES = ("bacterial", "normal", "viral")


def records_frame(rows: int, *, patients: int | None = None, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet([1.0] * len(CLASSES), rows)
    frame = pd.DataFrame(shares, columns=list(CLASSES))
    frame.insert(0, "label", rng.choice(CLASSES, rows))
    if patients is not None:
        frame.insert(0, "patient", [f"P{number}" for number in rng.integers(0, patients, rows)])
    frame.insert(0, "site", rng.choice(["north", "south", "east"], rows))
    return frame


def write_csv(frame: pd.DataFrame, path: Path) -> Path:
    frame.to_csv(path, index=False)  # pandas writes the shortest text that reads back as the same float
    return path


def write_parts(frame: pd.DataFrame, folder: Path, parts: int, group: int = 50) -> Path:
    folder.mkdir()
    edges = np.linspace(0, len(frame), parts + 1).astype(int)
    for number, (start, end) in enumerate(pairwise(edges)):
        frame.iloc[start:end].to_parquet(folder / f"part-{number:05d}.parquet", row_group_size=group, index=False)
    return folder


def npy(array: np.ndarray, **options) -> bytes:
    out = io.BytesIO()
    np.save(out, array, **options)
    return out.getvalue()


def npz(save=np.savez, **arrays) -> bytes:
    out = io.BytesIO()
    save(out, **arrays)
    return out.getvalue()


def parquet(columns: dict | pa.Table, **options) -> bytes:
    out = io.BytesIO()
    pq.write_table(columns if isinstance(columns, pa.Table) else pa.table(columns), out, **options)
    return out.getvalue()


class Used:
    """The records that a release uses, in place of the ledger's keyed hashes."""

    def __init__(self) -> None:
        self.found: Counter = Counter()

    def add(self, records: Records) -> None:
        cells = [records.scores, records.labels, records.patients, records.novelty, *records.groups.values()]
        self.found += Counter(zip(*(column.tolist() for column in cells if column is not None), strict=True))

    def total(self) -> Counter:
        return self.found
