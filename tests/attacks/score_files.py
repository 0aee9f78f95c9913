"""Score files that are damaged or mean harm, as bytes, each with what is said of it."""

import io
import json
import zipfile

import numpy as np
import pyarrow as pa

from tests.attacks.archives import patched
from tests.data.data_sets import npy, npz, parquet

BIG = b"1" + b"0" * 400


class Bomb:
    """Unpickled, it would make a file."""

    def __reduce__(self):
        return open, ("unpickled", "w")


def npy_header(kind: str, shape: tuple, body: bytes = b"") -> bytes:
    """An NPY file whose header says so, whatever its body."""
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape!r}}}\n".encode()
    return b"\x93NUMPY\x01\0" + len(header).to_bytes(2, "little") + header + body


def zip_of(members: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


def repeated_text(rows: int, letters: int) -> bytes:
    """A Parquet file that stores one long text once and refers to it in every row."""
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), ["a" * letters])
    return parquet({"label": texts, "score": [0.5] * rows})


ONE = npy_header("<f8", (1,), bytes(8))
PICKLED = np.array([Bomb()], dtype=object)
REFUSED: dict[str, tuple[bytes, str]] = {
    "pickled.npy": (npy(PICKLED, allow_pickle=True), "pickled objects, which can run code"),
    "pickled.npz": (zip_of({"score.npy": npy(PICKLED, allow_pickle=True)}), "pickled objects, which can run code"),
    "nested.parquet": (parquet({"score": [[0.1], [0.2]]}), "'score' is nested"),
    "struct.parquet": (parquet({"score": [{"a": 0.1}], "x": [1]}), "'score' is nested"),
    "map.parquet": (parquet({"m": pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int8()))}), "'m' is nested"),
    "repeated.parquet": (repeated_text(100_000, 1_000_000), "more than 1,000 letters"),
    "rows.parquet": (parquet({"score": pa.nulls(13_000_000, pa.int8())}), "more than 12,000,000 cells"),
    "minus.npy": (npy_header("<f8", (-2, -2), bytes(32)), "header is damaged"),
    "true.npy": (npy_header("<f8", (True,), bytes(8)), "header is damaged"),
    "unclosed.npy": (b"\x93NUMPY\x01\0v\0{'descr': '<f8'{" + b" " * 200, "header is damaged"),
    "complex.npy": (npy(np.array([0.5 + 0.1j])), "neither of numbers nor of text"),
    "no-bytes.npy": (npy_header("|S0", (10**15,)), "more than 12,000,000 cells"),
    "no-rows.npz": (zip_of({"probabilities.npy": npy_header("<f8", (0, 10**15))}), "more than 12,000,000 cells"),
    "zeros.npz": (npz(np.savez_compressed, score=np.zeros(12_100_000, np.uint8)), "more than 12,000,000 cells"),
    "unpacks.npz": (
        patched(zip_of({"a.npy": ONE}), b"a.npy", 24, (401_000_000).to_bytes(4, "little")),
        "unpacks to over 250 MB",
    ),
    "number.npz": (npz(score=np.float64(0.5)), "nested or no list"),
    "classes.npz": (
        npz(classes=np.array("a"), probabilities=np.ones((1, 2)) / 2, label=np.array([0])),
        "no list of names",
    ),
    "lzma.npz": (zip_of({"score.npy": ONE}, zipfile.ZIP_LZMA), "compressed in a rare way"),
    "members.npz": (zip_of({f"{i}.npy": b"" for i in range(10_001)}), "more than 10,000 columns"),
    "big.json": (b'{"probabilities": [[' + BIG + b', 0]], "label": ["0"]}', "one number per class"),
    "keys.json": (json.dumps([{f"k{i}": 0} for i in range(4000)]).encode(), "its fields are not those of the first"),
    "lists.json": (b"[" + b"[]," * 4_100_000 + b"[]]", "more than 4,000,000 cells"),
    "columns.csv": (
        ",".join(f"c{i}" for i in range(20_000)).encode() + b"\n" + b"0," * 19_999 + b"0",
        "10,000 columns",
    ),
    "commas.csv": (b"a,b\n" + b"," * 13_000_000, "more than 12,000,000 cells"),
    "lines.csv": (b"0\n" * 12_100_000, "more than 12,000,000 cells"),
    "field.csv": (b"label,score\n" + b"a" * 200_000 + b",0.5\n", "1,000 letters"),
    "formula.csv": (b"score\n=1+1\n=cmd|' /C calc'!A0\n", "line 2, column 'score'"),
    "hidden.csv": (b"label,a,a\xe2\x80\x8b\na,0.5,0.5", "stands more than once"),
}
