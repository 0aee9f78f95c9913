"""Races and crashes: never more releases than the budget pays for, never one uncharged."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

import ppsets_core.method.release as quantile
from ppsets_core import Ledger, LedgerError, calibrate
from ppsets_core import ledger as ledger_package
from tests.ledger.spending import spend

pytestmark = pytest.mark.faults

SCORES = np.random.default_rng(0).random(100)  # few, as hashing them takes most of the steps
TRACED = (str(Path(ledger_package.__file__).parent), quantile.__file__)
SEED = int(os.environ.get("PPSETS_SEED", time.time_ns() % 10**6))
EPSILON = Decimal("0.7")

RACE = """
import sys, numpy as np
from ppsets_core import BudgetError, Ledger, Records, plan
ledger = Ledger(sys.argv[1])
records, chosen = Records("scores", np.random.default_rng(0).random(500)), plan(500, 0.1, 0.7, m=50)
print("ready", flush=True)
sys.stdin.read(1)
drawn = 0
for _ in range(4):
    try:
        ledger.release(records, chosen, ledger.account_for(records, "ward"), again=True)
        drawn += 1
    except BudgetError:
        pass
print(drawn)
"""


OVERLAP = """
import json, sys
import numpy as np
from ppsets_core import BudgetError, Ledger
path, number = sys.argv[1], int(sys.argv[2])
ledger, rng = Ledger(path), np.random.default_rng(number)
account = ledger.account(f"ward {number}")
charged, refused = [], []
print("ready", flush=True)
sys.stdin.read(1)
for _ in range(8):
    cohort = rng.choice(60, 15, replace=False).tolist()
    try:
        ledger.charge(ledger.cohort_of_patients([str(one) for one in cohort]), 0.25, account, kind="check")
        charged.append(cohort)
    except BudgetError:
        refused.append(cohort)
print(json.dumps([charged, refused]))
"""


def release(ledger: Ledger):
    return spend(ledger, 0.7, SCORES, m=50)


def refusal(path: Path) -> str:
    """Why the ledger cannot be opened; '' if it can."""
    try:
        Ledger(path).accounts()
    except LedgerError as error:
        return str(error)
    return ""


def raced(commands: Iterable[list]) -> list[str]:
    """What each process told; all are ready and waiting before the first of them is let go."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    processes = [subprocess.Popen(command, **pipes) for command in commands]
    assert [process.stdout.readline() for process in processes] == ["ready\n"] * len(processes)
    for process in processes:
        process.stdin.write("!")
        process.stdin.flush()
    return [process.communicate()[0] for process in processes]


@pytest.mark.parametrize(("budget", "affordable"), [("7", 10), ("2.05", 2)])
def test_eight_processes_race_for_the_last_budget(tmp_path, budget, affordable):
    path = tmp_path / "ledger.sqlite"
    Ledger(path).open_account("ward", budget)
    drawn = [int(told) for told in raced([sys.executable, "-c", RACE, path] for _ in range(8))]
    assert sum(drawn) == affordable
    assert len(Ledger(path).releases()) == affordable
    assert Ledger(path).account("ward").spent == affordable * EPSILON


def test_eight_processes_race_under_names_of_their_own_for_patients_whom_they_share(tmp_path):
    """Whatever the order, nobody loses more than the budget, and whoever is refused was out of it."""
    path = tmp_path / "ledger.sqlite"
    for number in range(8):
        Ledger(path).open_account(f"ward {number}", "1")
    told = [json.loads(one) for one in raced([sys.executable, "-c", OVERLAP, path, str(i)] for i in range(8))]
    lost = Counter(patient for charged, _ in told for cohort in charged for patient in cohort)
    assert max(lost.values()) <= 4, "a quarter each, of a budget of 1"
    for _, refused in told:
        assert all(any(lost[patient] == 4 for patient in cohort) for cohort in refused)
    assert len(Ledger(path).releases()) == sum(len(charged) for charged, _ in told)
    assert sum(len(refused) for _, refused in told) > 0


def test_eight_processes_may_create_the_ledger_at_once(tmp_path):
    code = (
        "import sys; from ppsets_core import Ledger; print('ready', flush=True); sys.stdin.read(1); "
        "print(len(Ledger(sys.argv[1]).accounts()))"
    )
    told = raced([sys.executable, "-c", code, tmp_path / "ledger.sqlite"] for _ in range(8))
    assert [one.strip() for one in told] == ["0"] * 8


def forked(action: Callable[[], object], step: Callable[[object], None]) -> int:
    """Act in a forked process that calls `step` at each line of ledger code; its exit status."""
    child = os.fork()
    if child == 0:

        def trace(frame, event, argument):
            if not frame.f_code.co_filename.startswith(TRACED):
                return None
            step(frame)
            return trace

        sys.settrace(trace)
        action()
        os._exit(0)
    return os.waitpid(child, 0)[1]


def killed(action: Callable[[], object], last_step: int) -> bool:
    """Act in a forked process killed at its `last_step`-th line of ledger code; whether it got to the end."""
    left = iter(range(last_step - 1))

    def step(_: object) -> None:
        if next(left, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)

    return forked(action, step) == 0


def steps_of(action: Callable[[], object], folder: Path) -> list[int]:
    """Where to kill it: once at each line of code, at random steps that change with the seed, and after the last.

    With PPSETS_EVERY_STEP set: everywhere, which takes half an hour."""
    notes = folder / "steps.txt"
    with notes.open("w", buffering=1) as file:
        assert forked(action, lambda frame: file.write(f"{frame.f_code.co_filename}:{frame.f_lineno}\n")) == 0
    lines = notes.read_text().splitlines()
    if os.environ.get("PPSETS_EVERY_STEP"):
        return list(range(1, len(lines) + 2))
    rng = np.random.default_rng(SEED)
    first = {line: step for step, line in reversed(list(enumerate(lines, 1)))}
    return sorted({*first.values(), *rng.integers(1, len(lines) + 1, 20).tolist(), len(lines) + 1000})


def raise_and_release(ledger: Ledger, marker: Path) -> None:
    """Raise the budget, then release; the marker is there once the threshold is being drawn."""
    draw = quantile.draw_release

    def marked_draw(*arguments):
        marker.write_text("drawn")
        return draw(*arguments)

    quantile.draw_release = marked_draw
    ledger.raise_budget("ward", 20)
    release(ledger)


def opened(path: Path) -> Ledger:
    ledger = Ledger(path)
    ledger.open_account("ward", 10)
    return ledger


def test_killed_at_any_step_nothing_is_released_uncharged(tmp_path):
    """And a budget is the old or the new one, as it is on record."""
    calibrate(SCORES, 0.1, 0.7, m=50)  # everything is loaded before the forks
    first = opened(tmp_path / "first.sqlite")
    seen = []
    for step in steps_of(lambda: raise_and_release(first, tmp_path / "first.drawn"), tmp_path):
        ledger, marker = opened(tmp_path / f"{step}.sqlite"), tmp_path / f"{step}.drawn"
        finished = killed(lambda: raise_and_release(ledger, marker), step)  # noqa: B023
        drawn, charged = marker.exists(), len(ledger.releases())
        assert drawn <= charged, f"killed at step {step}, seed {SEED}"
        assert ledger.account("ward").spent == charged * EPSILON
        budgets = [int(change.budget) for change in ledger.snapshot().budget_changes]
        assert ledger.account("ward").budget == budgets[-1]
        seen.append((budgets, charged, drawn))
        if not finished:
            release(ledger)
            assert len(ledger.releases()) == charged + 1, "the ledger must be in working order after a crash"
    assert finished, "the last step must be late enough for the release to be made"
    states = [([10], 0, False), ([10, 20], 0, False), ([10, 20], 1, False), ([10, 20], 1, True)]
    assert seen == [state for state in states for _ in range(seen.count(state))], "one after the other, none else"
    assert all(state in seen for state in states), "crashes must fall before, between and after"


def test_killed_while_the_ledger_is_made_it_works_or_says_what_to_do(tmp_path):
    outcomes = set()
    for step in steps_of(lambda: Ledger(tmp_path / "first" / "ledger.sqlite").accounts(), tmp_path):
        path = tmp_path / f"{step}" / "ledger.sqlite"
        killed(lambda: Ledger(path).accounts(), step)  # noqa: B023
        said = refusal(path)
        if said:
            left = [Path(f"{path}{ending}") for ending in (".key", ".head") if Path(f"{path}{ending}").exists()]
            assert f"remove {' and '.join(map(str, left))}." in said
            for file in left:
                file.unlink()
        outcomes.add("says" if said else "works")
        assert Ledger(path).open_account("ward", 1).budget == 1
    assert outcomes == {"works", "says"}


@pytest.mark.parametrize("journal", ["kept", "deleted"])
def test_killed_at_any_moment_every_threshold_handed_out_is_charged(tmp_path, journal):
    """Also in the middle of what SQLite does; and if someone then tidies its journal away, all or nothing is there."""
    rng = np.random.default_rng(1)
    calibrate(SCORES, 0.1, 0.7, m=50)
    for number in range(12):
        path = tmp_path / f"{number}.sqlite"
        ledger = Ledger(path)
        ledger.open_account("ward", 1000)
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            while release(ledger):
                os.write(writing, b"!")
        os.close(writing)
        handed = len(os.read(reading, 1))
        time.sleep(rng.uniform(0, 0.03))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        with os.fdopen(reading, "rb") as rest:
            handed += len(rest.read())
        if journal == "deleted":
            Path(f"{path}-journal").unlink(missing_ok=True)
        if said := refusal(path):
            assert journal == "deleted", "a crash alone must not damage the ledger"
            assert "from a backup" in said
            continue
        spent = Ledger(path).account("ward").spent
        assert handed * EPSILON <= spent <= (handed + 1) * EPSILON
