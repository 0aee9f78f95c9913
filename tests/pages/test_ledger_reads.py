"""A slider move is cheap: it reads the ledger at most once and checks no whole seal."""

from contextlib import contextmanager

import pytest
from streamlit.testing.v1 import AppTest

from ppsets_core.ledger import store
from tests.pages.driving import ROOT, release, texts


@pytest.fixture
def counted(monkeypatch):
    """How often the ledger's file was read or written, and its whole seal checked, since the last `clear`."""
    seen: list[str] = []
    transaction, sealed_entries = store.Store._transaction, store.sealed_entries

    @contextmanager
    def counting(self, *args, **options):
        seen.append("transaction")
        with transaction(self, *args, **options) as db:
            yield db

    def checking(*args):
        seen.append("seal")
        return sealed_entries(*args)

    monkeypatch.setattr(store.Store, "_transaction", counting)
    monkeypatch.setattr(store, "sealed_entries", checking)
    return seen


@pytest.mark.parametrize("released", [False, True])
def test_a_slider_move_reads_the_ledger_at_most_once(counted, released):
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).switch_page("pages/calibrate.py").run()
    assert "seal" in counted, "the first run of a new ledger must have read it"
    if released:
        release(at)
        assert "Your calibration" in texts(at)
    for slider, value in ((at.slider(key="alpha"), 0.2), (at.select_slider(key="epsilon"), 0.9)):
        counted.clear()
        slider.set_value(value).run()
        assert counted.count("transaction") <= 1
        assert "seal" not in counted


def test_a_change_by_another_process_is_seen_with_the_next_move(upload, ledger):
    at = upload(700)
    assert "is in the ledger already" not in texts(at)
    ledger.open_account("ward", 3)
    at.slider(key="alpha").set_value(0.2).run()
    assert "'ward' is in the ledger already. Releases under this name have cost" in texts(at)
