"""A ledger that fails under the running app: every screen says so in a sentence, and nothing is released uncharged."""

import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.widgets.guard import UNEXPECTED
from ppsets_core import Ledger
from tests.ledger.spending import spend
from tests.pages.driving import ROOT, button, field, labels, texts

SCORES = np.linspace(0, 1, 600)
pytestmark = pytest.mark.faults


def noise(path: Path) -> None:
    path.write_bytes(np.random.default_rng(0).bytes(20_000))


def edited(path: Path) -> None:
    with sqlite3.connect(path) as db:
        db.execute("DELETE FROM entries WHERE kind = 'charge'")
    db.close()


def another(path: Path) -> None:
    """A new, empty ledger of someone else's in its place, beside the old key."""
    Ledger(path.with_name("new.sqlite"))
    path.with_name("new.sqlite").replace(path)


def told(at: AppTest) -> str:
    assert not at.exception
    assert UNEXPECTED not in texts(at)
    return texts(at)


@pytest.fixture
def confirming(upload, ledger) -> AppTest:
    """The confirm step of a release from a new file, on a ledger that has spent before."""
    ledger.open_account("ward", 2)
    spend(ledger, 0.5, SCORES)
    return button(upload(700, name="clinic.csv"), "Calibrate …").click().run()


@pytest.mark.parametrize("damage", [noise, edited, another])
def test_damaged_while_the_confirm_step_is_open(confirming, home, damage):
    path = home / "ledger.sqlite"
    damage(path)
    left = path.read_bytes()
    at = button(confirming, "Spend ε").click().run()
    assert str(path) in told(at)
    assert "active_calibration" not in at.session_state
    for name in ("home", "ledger", "diagnose"):
        assert str(path) in told(at.switch_page(f"pages/{name}.py").run())
    assert "First, a calibration sets the cutoff" in texts(at), "it does not take Diagnose down"
    assert path.read_bytes() == left


def test_two_apps_and_the_command_line_on_one_ledger(score_csv, ledger, home, tmp_path):
    """Both sessions reach the confirm step for the same new account; the budget is spent only once."""
    sessions = []
    for _ in range(2):
        at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).run().switch_page("pages/calibrate.py").run()
        at.radio(key="source").set_value("A score file").run()
        at.file_uploader(key="score_file").set_value(("clinic.csv", score_csv(700), "text/csv")).run()
        field(at.number_input, "budget_").set_value(2.5).run()
        sessions.append(button(at, "Calibrate …").click().run())
    first, second = sessions
    button(first, "Spend ε").click().run()
    assert first.session_state["active_calibration"] == ledger.releases("clinic")[0].calibration
    (tmp_path / "clinic.csv").write_bytes(score_csv(700))
    command = f"{sys.executable} -m ppsets_core calibrate {tmp_path}/clinic.csv --epsilon 1 --again"
    subprocess.run(command.split(), cwd=ROOT, check=True, capture_output=True)
    button(second, "Spend ε").click().run()
    assert "in all of them has 0.5 left" in told(second)
    assert "active_calibration" not in second.session_state
    assert not any(label.startswith("Spend") for label in labels(second))
    assert ledger.account("clinic").spent == 2
    assert len(ledger.releases()) == 2
