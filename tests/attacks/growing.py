"""Texts that grow eighteenfold when they are compared: U+FDFA is a whole sentence. Run as a program in a small process.

python -m tests.attacks.growing MEGABYTES
"""

import io
import json
import resource
import sys
import unicodedata
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from ppsets_core import FileError, Ledger, one_per_patient, plan, read_folder, read_scores
from ppsets_core.files import names
from ppsets_core.model.folder_records import known_patients
from ppsets_core.xrays.labels import parse_labels
from tests.data.data_sets import npz, parquet
from tests.xrays.samples import film, png, upload, zipped

ROWS = 60_000
LONG, FIT = "\ufdfa" * 333, "\ufdfa" * 55


def repeated(name: str, column: str, rows: int = ROWS) -> bytes:
    texts = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), [name])
    return parquet({column: texts, "score": np.full(rows, 0.5)})


def csv(names: list[str], column: str = "patient") -> bytes:
    return "\n".join([f"{column},score", *(f"{name},0.5" for name in names)]).encode()


def as_json(column: str, name: str, rows: int) -> bytes:
    return json.dumps([{column: name, "score": 0.5}] * rows, ensure_ascii=False).encode()


LONG_ENTRY, TOO_LARGE, LONG_HEADER = "entry of more than 1,000 letters", "unpacks to over 250 MB", "a column's name has"
REFUSED: dict[str, tuple[Callable[[], bytes], str]] = {
    "long.parquet": (lambda: repeated(LONG, "label"), LONG_ENTRY),
    "fit.parquet": (lambda: repeated(FIT, "site"), TOO_LARGE),
    "long.csv": (lambda: csv([LONG] * 9, "model"), LONG_ENTRY),
    "fit.csv": (lambda: csv([f"{FIT}{number}" for number in range(20_000)]), TOO_LARGE),
    "long.json": (lambda: as_json("split", LONG, 9), LONG_ENTRY),
    "fit.json": (lambda: as_json("patient", FIT, 20_000), TOO_LARGE),
    "long.npz": (lambda: npz(score=np.full(9, 0.5), patient=np.full(9, LONG)), LONG_ENTRY),
    "fit.npz": (lambda: npz(np.savez_compressed, score=np.full(20_000, 0.5), patient=np.full(20_000, FIT)), TOO_LARGE),
    "column.csv": (lambda: csv(["x"], "\ufdfa" * 100_000), LONG_HEADER),
    "column.json": (lambda: json.dumps({"\ufdfa" * 10_000_000: [0.5]}).encode(), LONG_HEADER),
    "column.parquet": (lambda: parquet({"\ufdfa" * 1_000_000: [0.5]}), LONG_HEADER),
    "class.npz": (
        lambda: npz(probabilities=np.ones((1, 2)) / 2, label=np.array([0]), classes=np.array(["\ufdfa" * 10**6, "b"])),
        LONG_HEADER,
    ),
}


def read_all() -> None:
    """Every file is refused with its sentence, and what is just allowed is read and made ready for a release."""
    for name, (data, said) in REFUSED.items():
        with pytest.raises(FileError, match=said):
            read_scores(data(), name)
    folder = read_folder(upload("x.zip", zipped({"\ufdfa" * 20_000 + f"{i}.png": png(film()) for i in range(20)})))
    assert max(len(xray.name) for xray in folder.xrays) <= 400
    rows = parse_labels(
        b"file,label,patient\n" + b"".join(b"%d,a,%s%d\n" % (i, LONG.encode(), i) for i in range(40_000))
    )
    assert all("a patient in more than 1,000 letters" in row.problem for row in rows)
    assert set(known_patients([row.patient for row in rows])) == {""}
    records = one_per_patient(read_scores(csv([f"{FIT}{number}" for number in range(7_000)]), "allowed.csv"))
    with TemporaryDirectory() as home:
        records.counts(plan(len(records), 0.1, 1.0), Ledger(Path(home) / "ledger.sqlite").cohorts(len(records)))


def main(megabytes: int) -> None:
    """Print the most letters that were normalised by one call, during which no other thread runs."""
    read_scores(io.BytesIO(b"score\n0.5"))  # Arrow sets a gigabyte of addresses aside, used or not
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + megabytes * 10**6,) * 2)
    letters = [0]

    def normalize(form: str, text: str) -> str:
        letters[0] = max(letters[0], len(text))
        return unicodedata.normalize(form, text)

    names.unicodedata = SimpleNamespace(normalize=normalize, category=unicodedata.category)
    read_all()
    print(letters[0])


if __name__ == "__main__":
    main(int(sys.argv[1]))
