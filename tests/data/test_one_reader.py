"""One reader: odd tables mean the same, or are refused in the same words, in one process, by workers and in parts."""

import contextlib
import io
import json
import re
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ppsets_core import FileError, read_scores
from ppsets_core.__main__ import main
from ppsets_core.commands import calibrate
from ppsets_core.data import columns, delimited, parquet, reader
from ppsets_core.run import processes
from tests.data.data_sets import npz
from tests.data.data_sets import parquet as parquet_bytes

ROWS, HEAD = 120, 50
RNG = np.random.default_rng(0)
P = RNG.integers(1, 999, ROWS) / 1000
FRAME = pd.DataFrame({"label": RNG.choice(["a", "b"], ROWS), "a": P, "b": 1 - P})
NUMBERED = FRAME.assign(patient=RNG.integers(0, 40, ROWS))
SCORES = pd.DataFrame({"score": P})
LATE = np.arange(ROWS) >= HEAD + 10
MODEL = "0123456789abcdef"


def csv(frame: pd.DataFrame, encoding: str = "utf-8", **options) -> bytes:
    return frame.to_csv(index=False, **options).encode(encoding)


def parq(frame: pd.DataFrame | pa.Table, **options) -> bytes:
    return parquet_bytes(
        frame if isinstance(frame, pa.Table) else pa.Table.from_pandas(frame, preserve_index=False), **options
    )


def typed(**arrays) -> pa.Table:
    """The frame with some columns of a given type."""
    table = pa.Table.from_pandas(FRAME, preserve_index=False)
    for name, array in arrays.items():
        place = table.column_names.index(name) if name in table.column_names else table.num_columns
        table = table.remove_column(place) if place < table.num_columns else table
        table = table.add_column(place, name, array)
    return table


def lines(data: bytes, place: int, new: bytes) -> bytes:
    found = data.split(b"\n")
    return b"\n".join([*found[:place], new, *found[place:]])


BOTH, ALL, NO_SUM = ["a", "b"], (ROWS, ["a", "b"]), "do not sum to 1"
MISSING = "column 'b': the value is missing or not a finite number"
TABLES: dict[str, tuple[bytes, tuple[int, list[str]] | str]] = {
    # the five that two readers disagreed on
    "score-as-text.parquet": (parq(SCORES.astype(str)), (ROWS, [])),
    "class-as-text.parquet": (parq(FRAME.astype({"b": str})), ALL),
    "note.parquet": (parq(FRAME.assign(note=(np.arange(ROWS) % 30).astype(str))), ALL),
    "turns-to-text.csv": (csv(FRAME.assign(b=np.where(LATE, "n/a", FRAME["b"].astype(str)))), MISSING),
    "turns-to-numbers.csv": (csv(FRAME.assign(note=np.where(LATE, "0.5", "seen"))), ALL),
    # encodings and signs
    "comma.csv": (csv(FRAME, sep=";", decimal=","), ALL),
    "tab.tsv": (csv(FRAME, sep="\t"), ALL),
    "utf-16.csv": (csv(FRAME, "utf-16"), ALL),
    "windows.csv": (b"\xef\xbb\xbf" + csv(FRAME, lineterminator="\r\n"), ALL),
    "old-mac.csv": (csv(FRAME).replace(b"\n", b"\r"), ALL),
    "latin-1.csv": (csv(FRAME.assign(note="Jürgen"), "latin-1"), "the text is not UTF-8"),
    "binary.csv": (csv(FRAME) + b"\0", "not a text file"),
    "quoted.csv": (csv(FRAME, quoting=1), ALL),
    "quotes-in-quotes.csv": (csv(FRAME.assign(note='5" thick, "wide"')), ALL),
    "line-breaks.csv": (
        csv(FRAME.assign(note=["two\nlines"] * 5 + [""] * (ROWS - 5))),
        "a cell goes on beyond its line",
    ),
    "blank-rows.csv": (lines(lines(csv(FRAME), 9, b",,"), 3, b""), ALL),
    "spaces.csv": (csv(FRAME).replace(b",", b" , "), ALL),
    "ragged.csv": (lines(csv(FRAME), 5, b"a,0.5"), "it has 2 cells where the header has 3"),
    "bare.csv": (b"\n".join(b"%.3f" % p for p in P), (ROWS, [])),
    "bare-comma.csv": (b"\n".join((b"%.3f" % p).replace(b".", b",") for p in P), (ROWS, [])),
    "header-only.csv": (csv(FRAME[:0]), "it is empty"),
    "twice.csv": (csv(FRAME.rename(columns={"label": "a "})), "the column 'a' stands more than once"),
    "index.csv": (FRAME.to_csv().encode(), ALL),
    "numbered.csv": (csv(FRAME.rename(columns={"a": "0", "b": "1"}).assign(label=0)), (ROWS, ["0", "1"])),
    # nulls and types
    "gap.parquet": (parq(typed(b=pa.array([None, *FRAME["b"][1:]]))), MISSING),
    "patients-as-numbers.parquet": (parq(NUMBERED), (NUMBERED["patient"].nunique(), BOTH)),
    "patients-as-numbers.csv": (csv(NUMBERED), (NUMBERED["patient"].nunique(), BOTH)),
    "patients-missing.parquet": (parq(typed(patient=pa.nulls(ROWS))), ALL),
    "patients-with-gaps.csv": (csv(NUMBERED.assign(patient=["", "x", "X "] * 40)), (41, BOTH)),
    "patients-as-dates.parquet": (parq(typed(patient=pa.array([0] * ROWS, pa.date32()))), "neither of numbers nor of"),
    "dates.parquet": (parq(typed(when=pa.array([0] * ROWS, pa.timestamp("s")))), ALL),
    "small-floats.parquet": (parq(FRAME.astype({"a": "float32", "b": "float32"})), ALL),
    "decimals.parquet": (parq(typed(a=pa.array([Decimal(f"{p:.3f}") for p in P]))), ALL),
    "whole-numbers.parquet": (parq(FRAME.assign(a=1, b=0)), ALL),
    "true-and-false.parquet": (parq(FRAME.assign(seen=P > 0.5)), ALL),
    "categories.parquet": (parq(FRAME.astype({"label": "category"})), ALL),
    "nested.parquet": (parq(typed(a=pa.array([[p] for p in P]))), "the column 'a' is nested"),
    "delta.parquet": (parq(FRAME, use_dictionary=False, column_encoding={"label": "DELTA_BYTE_ARRAY"}), ALL),
    "row-groups.parquet": (parq(NUMBERED.assign(note="x").astype({"patient": str}), row_group_size=7), (39, BOTH)),
    "score-as-shares.csv": (csv(SCORES.assign(score="7%", other=0.1)), "column 'score': the value is missing"),
    "novelty-as-text.parquet": (parq(FRAME.assign(novelty="much")), "column 'novelty': the value is missing"),
    # meaning
    "capitals.csv": (csv(NUMBERED.rename(columns=str.upper)), (NUMBERED["patient"].nunique(), ["A", "B"])),
    "trained.csv": (csv(FRAME.assign(split=["train", "test"] * 60)), (60, BOTH)),
    "all-trained.parquet": (parq(FRAME.assign(split="Train")), "every row is of the training part"),
    "unknown-label.csv": (csv(FRAME.assign(label=["a", "c"] * 60)), "column 'label': the label is none of"),
    "logits.parquet": (parq(FRAME.assign(a=FRAME["a"] - 3)), "column 'a': the probability is outside"),
    "code.csv": (csv(FRAME.assign(code=7)), "column 'code': the probability is outside"),
    "half.csv": (csv(FRAME.assign(half=0.5)), NO_SUM),
    "models.parquet": (parq(FRAME.assign(model=[MODEL, MODEL[::-1]] * 60)), "column 'model': it is of another model"),
    "no-numbers.csv": (csv(FRAME[["label"]].assign(note="x")), "a 'label' but no probabilities"),
    # formats that have no parts
    "lists.json": (json.dumps(FRAME.to_dict("list")).encode(), ALL),
    "text.json": (json.dumps(FRAME.assign(note="7", b=FRAME["b"].astype(str)).to_dict("records")).encode(), ALL),
    "mixed.json": (json.dumps({"score": [0.5, "0,25", None]}).encode(), "column 'score': the value is missing"),
    "arrays.npz": (npz(**{name: FRAME[name].to_numpy(str) for name in ("label", "a", "b")}), ALL),
    "misnamed.csv": (npz(score=P), (ROWS, [])),
}


@pytest.fixture(autouse=True)
def _small_steps(monkeypatch):
    """A few rows decide, and make a block or batch, so that a small table has many."""
    monkeypatch.setattr(reader, "HEAD_ROWS", HEAD)
    monkeypatch.setattr(delimited, "BLOCK", 700)
    monkeypatch.setattr(parquet, "ROWS", 20)


@pytest.fixture(scope="module")
def worker():
    with processes(1) as executor:
        yield executor


@pytest.fixture
def outcome(tmp_path, capsys, worker, monkeypatch):
    """Calibrate: how many records of which classes, or what was said instead, whatever the file and the row."""
    monkeypatch.setattr(calibrate, "executor_for", lambda args: contextlib.nullcontext(worker))

    def run(path: Path, *options: str) -> tuple[int, list[str]] | str:
        ledger = tmp_path / f"{len(list(tmp_path.iterdir()))}.sqlite"
        command = ["calibrate", str(path), "--score=lac", "--epsilon=1", "--budget=1", "--json", "--ledger"]
        code = main([*command, str(ledger), *options])
        out, err = capsys.readouterr()
        if code == 0:
            drawn = json.loads(out)
            return drawn["n"], list(drawn.get("classes", []))
        return re.sub(r"xyzzy[^\s:,]*(, (line|row) \d+)?| \(\d+ such places\)", "", err)

    return run


def write_parts(data: bytes, folder: Path, ending: str) -> Path:
    folder.mkdir()
    if ending == ".parquet":
        table = pq.read_table(io.BytesIO(data))
        for number in range(3):
            part = table.slice(number * ROWS // 3, ROWS // 3)
            pq.write_table(part, folder / f"part-{number}.parquet", row_group_size=16)
        return folder
    encoding = "utf-16" if data[:2] == b"\xff\xfe" else "latin-1"
    rows = data.decode(encoding).splitlines(keepends=True)
    header, half = rows[:1] if len(rows[0]) > len("0.500\n") else [], len(rows) // 2 + 1
    for number, part in enumerate((rows[:half], header + rows[half:])):
        (folder / f"part-{number}{ending}").write_bytes("".join(part).encode(encoding))
    return folder


@pytest.mark.parametrize("name", TABLES)
def test_every_way_of_reading_says_the_same(name, tmp_path, outcome, monkeypatch):
    data, expected = TABLES[name]
    path = tmp_path / f"xyzzy{Path(name).suffix}"
    path.write_bytes(data)
    found = outcome(path)
    assert expected in found if isinstance(expected, str) else found == expected
    assert outcome(path, "--workers", "1") == found
    if path.suffix in (".csv", ".tsv", ".parquet") and name != "misnamed.csv":
        assert outcome(write_parts(data, tmp_path / "xyzzy", path.suffix)) == found
    monkeypatch.setattr(parquet, "parse_in_sandbox", lambda _, data: parquet.plain_columns(data))
    refused = pytest.raises(FileError, match=re.escape(expected)) if isinstance(expected, str) else None
    with refused or contextlib.nullcontext():
        assert list(read_scores(data, path.name).classes) == expected[1]


def test_an_array_too_large_is_refused_for_its_size(tmp_path, monkeypatch):
    for module in ("reader", "source"):
        monkeypatch.setattr(f"ppsets_core.data.{module}.MAX_BYTES", 1000)
    for name, data in (("large.npz", npz(score=np.zeros(500))), ("large.json", b"[" + b"0," * 999 + b"0]")):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(FileError, match=rf"^{name}: larger than"):
            read_scores(tmp_path / name)
        with pytest.raises(FileError, match=rf"^{name}: larger than"):
            reader.scan(tmp_path / name, None, (), (), 100)


def test_long_texts_are_refused_whatever_the_format(tmp_path):
    long = FRAME.assign(patient=["ä" * 999, "ä" * 1001] * 60)
    for name, data in (("a.csv", csv(long)), ("a.parquet", parq(long)), ("a.json", long.to_json().encode())):
        with pytest.raises(FileError, match="entry of more than 1,000 letters"):
            read_scores(data if name != "a.json" else json.dumps(long.to_dict("list")).encode(), name)
    assert columns.texts_in("x", pa.array(["ä" * 1000]), "x").words[0] == "ä" * 1000
