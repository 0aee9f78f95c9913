"""`ppsets ledger`: list, raise a budget after asking, write a release again for nothing."""

import io
import json
import os
import subprocess
import sys
from decimal import Decimal

import numpy as np
import pytest

import ppsets_core.ledger.ledger as ledger_module
from ppsets_core import Calibration, Ledger
from ppsets_core.__main__ import main
from tests.ledger.spending import spend

SCORES = np.random.default_rng(0).random(600)


@pytest.fixture
def ledger(tmp_path, monkeypatch) -> Ledger:
    monkeypatch.setenv("PPSETS_HOME", str(tmp_path))
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.open_account("ward 3", 2)
    patients = np.array([f"p{i}" for i in range(len(SCORES))])
    spend(ledger, 1.5, SCORES, "ward 3", unit="patient", patients=patients, model="ab" * 8)
    return ledger


def answer(monkeypatch, text: str) -> None:
    """What a person at a terminal types."""
    typed = io.StringIO(text)
    typed.isatty = lambda: True
    monkeypatch.setattr(sys, "stdin", typed)


def test_accounts_and_releases_are_listed(ledger, tmp_path, capsys):
    assert main(["ledger"]) == 0
    told = capsys.readouterr().out
    for words in (
        "ledger.sqlite",
        "ward 3: budget 2, of which releases under this name have cost 1.5",
        "No one has lost more than ε = 1.5 through releases under 'ward 3'",
        "no. 1",
        "ε = 1.5",
        "one patient",
        f"model {'ab' * 8}",
    ):
        assert words in told
    assert main(["ledger", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["datasets"][0]["left"] == "0.5"
    assert (document["releases"][0]["unit"], document["releases"][0]["model"]) == ("patient", "ab" * 8)
    assert main(["ledger", "export", "1"]) == 0
    assert Calibration.from_json(capsys.readouterr().out) == ledger.releases()[0].calibration


LEDGER = [sys.executable, "-m", "ppsets_core", "ledger"]


def test_a_reader_who_stops_reading_gets_no_traceback(ledger):
    reading, writing = os.pipe()
    os.close(reading)  # as `head` does in the end
    done = subprocess.run(LEDGER, stdout=writing, stderr=subprocess.PIPE, text=True)
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="Only Linux has a device that is always full.")
def test_a_full_disk_gets_a_sentence(ledger):
    with open("/dev/full", "w") as full:
        done = subprocess.run(LEDGER, stdout=full, stderr=subprocess.PIPE, text=True)
    told = "ppsets: the output could not be written: No space left on device.\n"
    assert (done.returncode, done.stderr) == (2, told)


def test_a_budget_is_raised_only_when_it_is_confirmed(ledger, monkeypatch, capsys):
    for typed in ("n\n", "\n", ""):
        answer(monkeypatch, typed)
        assert main(["ledger", "raise", "ward 3", "4"]) == 2
        assert "Nothing was changed" in capsys.readouterr().err
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    assert main(["ledger", "raise", "ward 3", "4"]) == 2
    assert "--yes" in capsys.readouterr().err
    assert ledger.account("ward 3").budget == 2
    answer(monkeypatch, "y\n")
    assert main(["ledger", "raise", "ward 3", "4"]) == 0
    assert main(["ledger", "raise", "ward 3", "4.5", "--yes"]) == 0
    assert "is 4.5 now" in capsys.readouterr().out
    assert [change.budget for change in ledger.snapshot().budget_changes] == [2, 4, Decimal("4.5")]


def test_a_release_is_published_and_withdrawn(ledger, capsys):
    assert main(["ledger", "publish", "1", "--reason", "for the ward"]) == 0
    assert "every viewer" in capsys.readouterr().out
    assert main(["ledger", "shelf"]) == 0
    assert "no. 1  ward 3  sharp, α = 0.1, n = 600" in capsys.readouterr().out
    assert main(["ledger", "withdraw", "1"]) == 0
    assert ledger.published() == []
    capsys.readouterr()
    assert main(["ledger", "shelf"]) == 0
    assert capsys.readouterr().out == "Nothing is published.\n"
    assert [change.reason for change in ledger.snapshot().shelf_changes] == ["for the ward", None]


def test_another_ledger_is_named_before_or_after_the_action(ledger, tmp_path, capsys):
    other = tmp_path / "other" / "ledger.sqlite"
    Ledger(other).open_account("clinic", 1)
    assert main(["ledger", "--ledger", str(other), "raise", "clinic", "2", "--yes"]) == 0
    assert main(["ledger", "raise", "clinic", "3", "--yes", "--ledger", str(other)]) == 0
    assert Ledger(other).account("clinic").budget == 3
    assert [account.name for account in ledger.accounts()] == ["ward 3"]


def test_refusals_are_one_sentence(ledger, tmp_path, capsys, monkeypatch):
    def killed(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(ledger_module, "release", killed)
    with pytest.raises(KeyboardInterrupt):
        spend(ledger, 0.5, SCORES, "ward 3")
    taken = tmp_path / "taken.json"
    taken.write_text("mine")
    for words, told in (
        (["raise", "nowhere", "3", "--yes"], "no data set 'nowhere'"),
        (["raise", "ward 3", "1", "--yes"], "it can only be raised"),
        (["raise", "ward 3", "much", "--yes"], "privacy amount must"),
        (["export", "7"], "no release 7"),
        (["publish", "7"], "no release 7"),
        (["publish", "2"], "no calibration to publish"),
        (["withdraw", "1"], "not on the shelf"),
        (["export", "2"], "is being drawn or was interrupted"),
        (["export", "1", "--out", str(taken)], "exists; choose another name"),
        (["export", "1", "--out", str(tmp_path / "nowhere" / "c.json")], "cannot be written"),
        (["--ledger", str(tmp_path / "absent.sqlite")], "There is no ledger at"),
    ):
        assert main(["ledger", *words]) == 2
        assert told in capsys.readouterr().err
    assert taken.read_text() == "mine"
    assert not (tmp_path / "absent.sqlite").exists()
