"""Looking at the ledger: read once, its seal checked once, until the file changes; and then what is in it now."""

import sqlite3
from collections import Counter
from decimal import Decimal

import numpy as np
import pytest

import ppsets_core.ledger.store as store
from ppsets_core import Ledger, LedgerError
from tests.ledger.spending import records_of, spend

SCORES = np.random.default_rng(0).random(500)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "ledger.sqlite"
    Ledger(path).open_account("ward", 10)
    return path


@pytest.fixture
def work(monkeypatch) -> Counter:
    """How often the file was opened and how often its whole seal was checked."""
    done, transaction, sealed_entries = Counter(), store.Store._transaction, store.sealed_entries

    def counted_transaction(self, begin, **options):
        done["transactions"] += 1
        return transaction(self, begin, **options)

    def counted_seal(*arguments):
        done["seals"] += 1
        return sealed_entries(*arguments)

    monkeypatch.setattr(store.Store, "_transaction", counted_transaction)
    monkeypatch.setattr(store, "sealed_entries", counted_seal)
    return done


def look(ledger: Ledger) -> Decimal:
    """All that a screen asks for each time it is drawn; what is spent."""
    for _ in range(3):
        ledger.account_for(records_of(SCORES), "ward")
        ledger.releases()
        ledger.releases("ward")
        ledger.budget_changes()
        (account,) = ledger.accounts()
        assert ledger.account("ward") == account
    return account.spent


def test_an_unchanged_file_is_read_once(path, work):
    ledger = Ledger(path)
    work.clear()
    assert look(ledger) == look(ledger) == 0
    assert work == {"transactions": 1, "seals": 1}


def test_each_change_is_read_once_by_whomever_it_was_made(path, work):
    ledger, other = Ledger(path), Ledger(path)
    look(ledger)
    for number, changer in enumerate((ledger, other, ledger), 1):
        spend(changer, 0.5, SCORES, m=50)
        work.clear()
        assert look(ledger) == look(ledger) == number * Decimal("0.5")
        assert work == {"transactions": 1, "seals": 1}
    other.raise_budget("ward", 20)
    assert ledger.account("ward").budget == 20


@pytest.mark.parametrize(("damage", "told"), [("edited", "changed by another program"), ("gone", "cannot be used")])
def test_damage_is_noticed_at_the_next_look_and_not_hidden_by_the_last(path, damage, told):
    ledger = Ledger(path)
    look(ledger)
    if damage == "gone":
        path.unlink()
    else:
        with sqlite3.connect(path) as db:
            db.execute("UPDATE entries SET body = replace(body, '10', '99')")
        db.close()
    for _ in range(2):
        with pytest.raises(LedgerError, match=told):
            look(ledger)
