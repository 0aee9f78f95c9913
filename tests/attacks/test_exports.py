"""Names that a spreadsheet would run, through every CSV that leaves: Diagnose, the ledger, `score --out`."""

import csv
import io

import numpy as np
import pytest

from ppsets_core import Ledger, plan, read_scores, simulate
from ppsets_core.__main__ import main
from ppsets_core.diagnose.exports import csv_of
from ppsets_core.files.names import plain_cell, same_name
from ppsets_core.ledger.export import export_csv
from ppsets_core.model import XrayModel, save_model
from tests.diagnose.made import xray_sets
from tests.ledger.spending import spend
from tests.model.chests import small_model
from tests.xrays.samples import film, png

FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", " =1", "\t=1", "\n=1", "\u00a0=1", "＝1+1", "=cmd|' /C calc'!A0"]
FORMULAS += ["a.png;=1+1", 'a;"=1+1";b', "a\t=1+1", "a; ＝1", "ok\n=1+1"]  # where cells are parted by other signs
STARTS = ("=", "+", "-", "@", "＝", "\t", "\r", "\n")


def cells(text: str) -> list[str]:
    """As a spreadsheet takes them apart at commas, and as others do at semicolons or tabs, in quotes or not."""
    rows = [cell for row in csv.reader(io.StringIO(text, newline="")) for cell in row]
    return rows + [cell.strip('"') for sign in ";\t\n" for line in text.splitlines() for cell in line.split(sign)]


def is_formula(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return cell.lstrip().startswith(STARTS) or cell.startswith(STARTS)
    return False


def test_what_diagnose_exports():
    names, doubts = FORMULAS * 2, [*[""] * len(FORMULAS), *["=why"] * len(FORMULAS)]
    drawn = simulate(np.linspace(0, 0.9, 500), plan(500, 0.1, 5.0), np.random.default_rng(0))
    sets = xray_sets([(0.75, 0.25)] * len(names), drawn, classes=("=evil", "+x"), names=names, doubts=doubts)
    found = cells(csv_of(sets).decode())
    assert [cell for cell in found if is_formula(cell)] == []
    assert f"'{FORMULAS[0]}" in found


def test_what_the_ledger_exports(tmp_path):
    ledger = Ledger(tmp_path / "ledger.sqlite")
    names = list({same_name(name): name for name in FORMULAS if name == " ".join(name.split())}.values())
    for number, name in enumerate(names):
        ledger.open_account(name, 100)
        spend(ledger, 1.0, np.random.default_rng(number).random(600), name)
    found = cells(export_csv(ledger))
    assert [cell for cell in found if is_formula(cell)] == []
    assert {plain_cell(name) for name in names} <= set(found)


def test_what_score_writes_is_read_again(tmp_path):
    base = small_model()
    classes = ("=cmd|' /C calc'!A0", "+normal", "viral")
    save_model(XrayModel(classes, base.preprocessing, 1.0, base.network), tmp_path / "w.safetensors")
    (tmp_path / "in").mkdir()
    lines = ["file,label,patient"]
    for number, name in enumerate(("=a.png", "@b.png", "c.png")):
        (tmp_path / "in" / name).write_bytes(png(film(seed=number)))
        lines.append(f"{name},{classes[number]},=p{number}")
    (tmp_path / "in" / "labels.csv").write_text("\n".join(lines))
    out = tmp_path / "out.csv"
    command = ["score", str(tmp_path / "in"), "--weights", str(tmp_path / "w.safetensors"), "--out", str(out)]
    assert main(command) == 0
    assert [cell for cell in cells(out.read_text()) if is_formula(cell)] == []
    records = read_scores(out)
    assert sorted(records.labels) == [0, 1, 2]
    assert sorted(records.patients) == ["=p0", "=p1", "=p2"], "the ledger knows them by the names in the labels file"


@pytest.fixture(autouse=True)
def nothing_is_left_behind(tmp_path, monkeypatch):
    """Commands write what they are told to."""
    monkeypatch.chdir(tmp_path)
