"""Small files that ask for gigabytes, in a process that may take 1.1 GB more: read or refused within it."""

import subprocess
import sys

import pytest

from ppsets_core.files import names
from tests.pages.driving import ROOT

START = """
import io, resource, struct, sys, zlib
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from ppsets_core import FileError, read_scores
from ppsets_core.xrays import read_picture
from ppsets_core.xrays.labels import parse_labels
from ppsets_core.model.folder_records import known_patients

def bounded():
    read_scores(b"score\\n0.5")  # Arrow sets a gigabyte of addresses aside, used or not
    taken = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + 1_100_000_000,) * 2)

def answer(read, *given):
    try:
        print("read", len(read(*given)))
    except FileError as error:
        print("refused", error)
"""
EVERY_BOMB = """
import warnings
from tests.attacks.pictures import REFUSED as pictures
from tests.attacks.score_files import REFUSED as files

warnings.simplefilter("ignore")
bounded()
for read, every in ((read_picture, pictures), (read_scores, files)):
    for name, (data, said) in every.items():
        try:
            read(data, name=name)
        except FileError as error:
            assert said in str(error), (name, str(error))
        else:
            raise AssertionError(name)
"""
CASES = {
    "one long patient in a CSV": (
        "data = b'score,patient\\n1,' + b'x' * 1000 + b'\\n' + b'1,1\\n' * 400_000\nbounded()\n"
        "answer(read_scores, data, 'long.csv')",
        "read 400001",
    ),
    "one long text in every row of a Parquet": (
        "out = io.BytesIO()\n"
        "text = pa.DictionaryArray.from_arrays(pa.array(np.zeros(1_000_000, np.int32)), ['x' * 1000])\n"
        "pq.write_table(pa.table({'patient': text, 'score': np.full(1_000_000, .5)}), out, compression='zstd')\n"
        "bounded()\n"
        "answer(read_scores, out.getvalue(), 'text.parquet')",
        "refused text.parquet: it unpacks to over 250 MB",
    ),
    "a Parquet that takes more than the sandbox allows, whatever it says of its sizes": (
        "from ppsets_core.files import sandbox\nsandbox.MEMORY = 50_000_000\nout = io.BytesIO()\n"
        "pq.write_table(pa.table({'score': np.full(10_000_000, .5)}), out)\nbounded()\n"
        "answer(read_scores, out.getvalue(), 'lie.parquet')",
        "refused lie.parquet: it asks for more than 700 MB of memory",
    ),
    "long texts in an NPZ": (
        "out = io.BytesIO()\nnp.savez_compressed(out, score=np.full(60_000, .5), patient=np.full(60_000, 'x' * 1000))\n"
        "bounded()\nanswer(read_scores, out.getvalue(), 'long.npz')",
        "read 60000",
    ),
    "dictionaries in a JSON": (
        "data = b'[' + b','.join([b'{\"score\":1}'] * 3_999_999) + b']'\nbounded()\n"
        "answer(read_scores, data, 'many.json')",
        "refused many.json: more than 1,000,000 cells",
    ),
    "one long patient in a labels file": (
        "rows = b'file,label,patient\\na0.png,normal,' + b'x' * 130_000 + b'\\n'\n"
        "rows += b''.join(b'a%d.png,normal,p%d\\n' % (i, i) for i in range(3000))\nbounded()\n"
        "answer(lambda: known_patients([row.patient for row in parse_labels(rows)]))",
        "read 3001",
    ),
    "tiles larger than the picture": (
        "data = zlib.compress(bytes(12_000 * 12_000))\n"
        "tags = [(256, 300), (257, 300), (258, 8), (259, 8), (262, 1), (277, 1), (322, 12_000), (323, 12_000),\n"
        "        (324, 8 + 2 + 12 * 10 + 4), (325, len(data))]\n"
        "entries = b''.join(struct.pack('<HHII', tag, 4, 1, value) for tag, value in tags)\n"
        "tiff = b'II*\\0' + struct.pack('<IH', 8, len(tags)) + entries + bytes(4) + data\nbounded()\n"
        "answer(read_picture, tiff, 'tiles.tif')",
        "refused tiles.tif: Its tiles are far larger than the picture",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_in_a_process_of_bounded_memory(case):
    code, said = CASES[case]
    child = subprocess.run([sys.executable, "-c", START + code], cwd=ROOT, capture_output=True, text=True)
    assert child.stdout.startswith(said), (child.stdout, child.stderr[-1500:])


def test_text_that_grows_when_it_is_compared_takes_neither_memory_nor_other_threads_turns():
    """No other thread runs while letters are normalised, so that only few are at once."""
    child = subprocess.run(
        [sys.executable, "-m", "tests.attacks.growing", "1500"], cwd=ROOT, capture_output=True, text=True
    )
    assert child.returncode == 0, child.stderr[-2000:]
    assert names.LETTERS_AT_ONCE < int(child.stdout) <= names.GROWTH * (names.LETTERS_AT_ONCE + names.MAX_TEXT)


def test_bombs_of_every_kind_in_a_small_process():
    child = subprocess.run([sys.executable, "-c", START + EVERY_BOMB], cwd=ROOT, capture_output=True, text=True)
    assert child.returncode == 0, child.stderr[-2000:]


def test_no_letter_grows_more_than_is_said():
    gained = [names.grown_letters(chr(code)) for code in range(sys.maxunicode + 1) if not 0xD800 <= code < 0xE000]
    assert 1 + max(gained) == names.GROWTH
