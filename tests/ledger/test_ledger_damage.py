"""A damaged, edited, foreign or replaced ledger is refused with what to do, and never taken for an empty one."""

import os
import shutil
import sqlite3
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

import ppsets_core.ledger.ledger as ledger_module
from ppsets_core import BudgetError, Ledger, LedgerError
from tests.ledger.spending import spend

pytestmark = pytest.mark.faults

SCORES = np.random.default_rng(0).random(500)
OTHERS = np.random.default_rng(1).random(400)


@pytest.fixture
def path(tmp_path) -> Path:
    """A ledger with two accounts, of which one has spent 1.4 of its 10."""
    path = tmp_path / "home" / "ledger.sqlite"
    ledger = Ledger(path)
    ledger.open_account("ward", 10)
    ledger.open_account("other", 1)
    release(ledger)
    release(ledger)
    return path


def edit(path: Path, *statements: str) -> None:
    """As someone with the file in their hands would."""
    with sqlite3.connect(path) as db:
        for statement in statements:
            db.execute(statement)
    db.close()


def release(ledger: Ledger, scores=SCORES, name: str = "ward", request: str | None = None):
    patients = np.array([f"{i} of {len(scores)}" for i in range(len(scores))])
    return spend(ledger, 0.7, scores, name, m=50, request=request, patients=patients)


def refused(path: Path) -> str:
    """Opening it, again and again, is refused and leaves the file as it is; the sentence."""
    before = path.read_bytes() if path.is_file() else b""
    for _ in range(2):
        with pytest.raises(LedgerError) as caught:
            Ledger(path).accounts()
    assert (path.read_bytes() if path.is_file() else b"") == before
    return str(caught.value)


def check_refused_or_whole(path: Path) -> bool:
    """Whether a damaged ledger was refused; if not, it must have lost nothing."""
    try:
        ledger = Ledger(path)
        assert ledger.account("ward").left == Decimal("8.6")
        assert len(ledger.releases()) == 2
        with pytest.raises(BudgetError):
            release(ledger, name="other")
        release(ledger)
        assert ledger.account("ward").spent == Decimal("2.1")
    except LedgerError:
        return True
    return False


def test_bytes_overwritten_anywhere(path, tmp_path):
    whole, rng = path.read_bytes(), np.random.default_rng(2)
    used = np.flatnonzero(np.frombuffer(whole, dtype=np.uint8))
    count = 0
    for _ in range(150):
        damaged = bytearray(whole)
        start, length = int(rng.choice(used)), int(rng.choice([1, 2, 16, 512]))
        damaged[start : start + length] = rng.bytes(min(length, len(whole) - start))
        path.write_bytes(damaged)
        count += check_refused_or_whole(path)
        assert not Path(f"{path}-journal").exists()
    assert count > 100, "most damage to bytes in use must be noticed"


def test_cut_short_or_a_folder_in_its_place(path):
    whole = path.read_bytes()
    assert len(whole) > 4096 * 5
    for pages in range(1, len(whole) // 4096):
        path.write_bytes(whole[: 4096 * pages])
        assert "from a backup" in refused(path)
    path.write_bytes(b"")
    assert "a new one would forget what was spent" in refused(path)
    path.unlink()
    path.mkdir()
    assert "cannot be used" in refused(path)


@pytest.mark.parametrize(
    "statements",
    [
        ["""UPDATE entries SET body = replace(body, '"0.7"', '"0.1"')"""],
        ["UPDATE entries SET kind = 'known' WHERE kind = 'charge'"],
        ["UPDATE entries SET seal = (SELECT seal FROM entries WHERE id = 1)"],
        ["DELETE FROM entries"],
        ["DELETE FROM entries WHERE id = (SELECT max(id) FROM entries)"],
        ["DELETE FROM entries WHERE id = 3"],
        ["INSERT INTO entries SELECT id + 1, kind, body, seal FROM entries WHERE id = (SELECT max(id) FROM entries)"],
        *([f"UPDATE meta SET value = '{version}' WHERE name = 'version'"] for version in ("3", "5", "")),
        ["INSERT INTO meta VALUES ('note', '')"],
        ["CREATE TABLE another (x)"],
        ["CREATE INDEX another ON entries (kind)"],
        ["CREATE VIEW another AS SELECT * FROM entries"],
        ["CREATE TRIGGER t AFTER INSERT ON entries BEGIN UPDATE entries SET body = replace(body, '0.7', '0.1'); END"],
        ["CREATE TRIGGER t AFTER INSERT ON cohorts BEGIN DELETE FROM cohorts; END"],
        ["ALTER TABLE entries ADD COLUMN another TEXT"],
    ],
)
def test_edited_by_hand(path, statements):
    opened = Ledger(path)
    edit(path, *statements)
    told = refused(path)
    assert "from a backup" in told or "an older copy" in told
    assert ("another version of this program" in told) == statements[-1].endswith("'version'")
    with pytest.raises(LedgerError, match="Nothing was released"):
        release(opened)


@pytest.mark.parametrize("statement", ["DELETE FROM cohorts", "UPDATE cohorts SET named = x''"])
def test_a_cohort_edited_by_hand_is_noticed_before_anyone_is_charged(path, statement):
    edit(path, statement)
    for scores in (SCORES, OTHERS):
        with pytest.raises(LedgerError, match="changed by another program"):
            release(Ledger(path), scores)
    assert len(Ledger(path).releases()) == 2


@pytest.mark.parametrize("table", ["notes (text)", "meta (x)", "meta (name, value)"])
def test_another_programs_database(path, table):
    path.unlink()
    edit(path, f"CREATE TABLE {table}")
    refused(path)
    Path(f"{path}.key").unlink()
    refused(path)


def swap(path: Path, other: Path, endings: tuple[str, ...] = ("", ".key", ".head")) -> None:
    """Put another ledger with its key and head in the place of this one, at once, as a restored backup would."""
    for ending in endings:
        shutil.copy(f"{other}{ending}", f"{path}{ending}.new")
        os.replace(f"{path}{ending}.new", f"{path}{ending}")


@pytest.mark.parametrize("endings", [("",), ("", ".key")])
def test_an_older_copy_put_back_without_its_head_is_noticed(path, tmp_path, endings):
    older = tmp_path / "older.sqlite"
    swap(older, path)
    opened = Ledger(path)
    release(opened)
    newer = tmp_path / "newer.sqlite"
    swap(newer, path)
    swap(path, older, endings)
    assert "is an older copy" in refused(path)
    with pytest.raises(LedgerError, match="Nothing was released"):
        release(opened)
    swap(path, newer)
    assert Ledger(path).account("ward").spent == Decimal("2.1")


@pytest.mark.parametrize("head", ["", "9999 x", "x y", "1 " + "0" * 64, "-1 x"])
def test_a_damaged_head_is_refused(path, head):
    Path(f"{path}.head").write_text(head)
    assert "is damaged" in refused(path)


@pytest.mark.parametrize("other", ["another ledger", "an older copy", "nothing"])
@pytest.mark.parametrize("when", ["before the charge", "after the charge"])
def test_replaced_while_a_release_is_made(path, tmp_path, monkeypatch, other, when):
    """What is handed out has its charge in the ledger that is there afterwards."""
    copy = tmp_path / "copy.sqlite"
    if other == "another ledger":
        for _ in range(2):
            Ledger(copy).accounts() or Ledger(copy).open_account("ward", 10)
            release(Ledger(copy))
    else:
        swap(copy, path)

    def replace() -> None:
        if other == "nothing":
            path.unlink()
        else:
            swap(path, copy)

    ledger, draw = Ledger(path), ledger_module.release
    if when == "before the charge":
        replace()
    else:
        monkeypatch.setattr(ledger_module, "release", lambda *a, **k: (replace(), draw(*a, **k))[1])
    if (other, when) == ("an older copy", "before the charge"):
        release(ledger)
        assert len(Ledger(path).releases()) == 3
        return
    with pytest.raises(LedgerError, match="Nothing was released"):
        release(ledger, OTHERS)
    if other == "nothing":
        assert "a new one would forget" in refused(path)
    else:
        assert len(Ledger(path).releases()) == 2
