"""A ledger of version 3 is brought up to date when it is opened: nothing that was spent is forgotten."""

import hashlib
import hmac
import shutil
import sqlite3
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from ppsets_core import BudgetError, Ledger, LedgerError, calibrate
from ppsets_core.ledger import version3
from ppsets_core.ledger.head import write_head
from ppsets_core.ledger.key import create_key, key_check
from tests.ledger.spending import spend

SCORES, OTHERS = np.random.default_rng(0).random(500), np.random.default_rng(1).random(500)
TIME = "2026-01-31T12:00:00+00:00"


def seal(db: sqlite3.Connection, key: bytes) -> None:
    """As version 3 sealed its rows."""
    digest = hmac.new(key, b"seal:", hashlib.sha256)
    for table in ("meta WHERE name != 'seal'", "datasets", "budgets", "fingerprints", "releases"):
        for row in db.execute(f"SELECT * FROM {table} ORDER BY rowid"):
            digest.update(repr((table, row)).encode())
    db.execute("INSERT OR REPLACE INTO meta VALUES ('seal', ?)", [digest.hexdigest()])


@pytest.fixture
def path(tmp_path) -> Path:
    """'ward' has spent 0.7 of 1, 0.2 of it on nothing."""
    path = tmp_path / "ledger.sqlite"
    key = create_key(tmp_path / "ledger.sqlite.key")
    with sqlite3.connect(path) as db:
        db.executescript(version3.TABLES)
        db.executemany("INSERT INTO meta VALUES (?, ?)", [("version", "3"), ("key_check", key_check(key))])
        db.execute("INSERT INTO datasets VALUES ('ward')")
        db.execute("INSERT INTO budgets (dataset, budget, time) VALUES ('ward', '1', ?)", [TIME])
        db.execute("INSERT INTO fingerprints VALUES (?, 'ward')", [version3.fingerprint(key, SCORES)])
        drawn = calibrate(SCORES, 0.1, 0.5).to_json()
        rows = [("ward", "0.5", TIME, "click", drawn), ("ward", "0.2", TIME, "broken", None)]
        query = "INSERT INTO releases (dataset, epsilon, time, request, calibration) VALUES (?, ?, ?, ?, ?)"
        db.executemany(query, rows)
        seal(db, key)
    db.close()
    return path


def test_all_that_it_says_is_kept(path):
    for _ in range(2):
        ledger = Ledger(path)
        account = ledger.account("ward")
        assert (account.budget, account.spent) == (1, Decimal("0.7"))
        assert [release.status for release in ledger.releases()] == ["released", "charged, not released"]
        assert ledger.releases()[0].calibration.epsilon == 0.5
        assert ledger.budget_changes()[0].time == TIME
    assert spend(ledger, 0.5, SCORES, request="click") == ledger.releases()[0].calibration


def test_its_records_and_its_name_have_lost_what_it_spent(path):
    ledger = Ledger(path)
    ledger.open_account("other", 1)
    for scores, name in ((SCORES, "ward"), (OTHERS, "ward"), (SCORES[::-1], "other")):
        with pytest.raises(BudgetError):
            spend(ledger, 0.5, scores, name)
    spend(ledger, 0.3, SCORES)
    spend(ledger, 1.0, OTHERS, "other")


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE releases SET epsilon = '0.1'",
        "CREATE TRIGGER x AFTER INSERT ON releases BEGIN UPDATE releases SET epsilon = '0.1'; END",
        "CREATE TABLE another (x)",
    ],
)
def test_one_that_was_changed_is_refused_and_left_alone(path, statement):
    with sqlite3.connect(path) as db:
        db.execute(statement)
    db.close()
    before = path.read_bytes()
    with pytest.raises(LedgerError, match="changed by another program"):
        Ledger(path)
    assert path.read_bytes() == before


def test_put_back_after_it_was_brought_up_to_date_it_is_an_older_copy(path, tmp_path):
    shutil.copy(path, tmp_path / "copy")
    Ledger(path).raise_budget("ward", 2)
    shutil.copy(tmp_path / "copy", path)
    with pytest.raises(LedgerError, match="older copy"):
        Ledger(path)


def test_interrupted_at_its_last_step_it_is_brought_up_to_date_the_next_time(path, monkeypatch):
    def interrupted(*of):
        write_head(*of)
        raise KeyboardInterrupt

    with monkeypatch.context() as once:
        once.setattr("ppsets_core.ledger.store.write_head", interrupted)
        with pytest.raises(KeyboardInterrupt):
            Ledger(path)
    assert Ledger(path).account("ward").spent == Decimal("0.7")
