"""Races and crashes: never more releases than the budget pays for, never one uncharged."""

import os
import signal
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

import ppsets_core.private_quantile as quantile
from ppsets_core import Ledger, calibrate

SCORES = np.random.default_rng(0).random(500)
LEDGER_CODE = ("ledger.py", "store.py", "private_quantile.py", "sampling.py")

RACE = """
import sys, numpy as np
from ppsets_core import BudgetError, Ledger
path, seed = sys.argv[1], int(sys.argv[2])
ledger = Ledger(path)
scores = np.random.default_rng(0).random(500)
sys.stdin.read(1)
drawn = 0
for _ in range(4):
    try:
        ledger.calibrate("ward", scores, 0.1, 0.7, method="sharp", m=50)
        drawn += 1
    except BudgetError:
        pass
print(drawn)
"""


@pytest.mark.parametrize(("budget", "affordable"), [("7", 10), ("0.7", 1), ("2.05", 2)])
def test_eight_processes_race_for_the_last_budget(tmp_path, budget, affordable):
    path = tmp_path / "ledger.sqlite"
    Ledger(path).add("ward", budget)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    processes = [subprocess.Popen([sys.executable, "-c", RACE, path, str(i)], **pipes) for i in range(8)]
    drawn = [int(process.communicate("!")[0]) for process in processes]
    assert sum(drawn) == affordable
    assert len(Ledger(path).releases()) == affordable
    assert Ledger(path).dataset("ward").spent == affordable * Decimal("0.7")


def test_eight_processes_may_create_the_ledger_at_once(tmp_path):
    code = "import sys; from ppsets_core import Ledger; sys.stdin.read(1); print(len(Ledger(sys.argv[1]).datasets()))"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    command = [sys.executable, "-c", code, tmp_path / "ledger.sqlite"]
    processes = [subprocess.Popen(command, **pipes) for _ in range(8)]
    assert [process.communicate("!")[0].strip() for process in processes] == ["0"] * 8


def killed_release(ledger: Ledger, marker: Path, last_step: int) -> bool:
    """Release in a forked process killed at its `last_step`-th line of ledger code; whether it got to the end."""
    child = os.fork()
    if child == 0:
        steps = 0

        def trace(frame, event, argument):
            nonlocal steps
            if not frame.f_code.co_filename.endswith(LEDGER_CODE):
                return None
            steps += 1
            if steps == last_step:
                os.kill(os.getpid(), signal.SIGKILL)
            return trace

        def marked_draw(*arguments):
            marker.write_text("drawn")
            return draw(*arguments)

        draw, quantile.draw_release = quantile.draw_release, marked_draw
        sys.settrace(trace)
        ledger.calibrate("ward", SCORES, 0.1, 0.7, method="sharp", m=50)
        os._exit(0)
    return os.waitpid(child, 0)[1] == 0


def kill_at(steps: range, folder: Path) -> None:
    calibrate(SCORES, 0.1, 0.7, method="sharp", m=50)  # everything is loaded before the forks
    seen = set()
    for step in steps:
        ledger, marker = Ledger(folder / f"{step}.sqlite"), folder / f"{step}.drawn"
        ledger.add("ward", 10)
        finished = killed_release(ledger, marker, step)
        drawn, charged = marker.exists(), len(ledger.releases())
        assert drawn <= charged
        assert ledger.dataset("ward").spent == charged * Decimal("0.7")
        seen.add((drawn, charged))
        if finished:
            break
        ledger.calibrate("ward", SCORES, 0.1, 0.7, method="sharp", m=50)
        assert len(ledger.releases()) == charged + 1, "the ledger must be in working order after a crash"
    assert finished, "no step was late enough for the release to be made: lengthen the range"
    assert {(False, 0), (False, 1), (True, 1)} <= seen, "crashes must fall before, between and after"


def test_killed_at_every_third_step_nothing_is_released_uncharged(tmp_path):
    kill_at(range(1, 1000, 3), tmp_path)


@pytest.mark.statistical
def test_killed_at_every_step_nothing_is_released_uncharged(tmp_path):
    kill_at(range(1, 1000), tmp_path)
