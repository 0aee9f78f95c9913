"""A third rule, written here and entered in the registry, is planned, released, listed and drawn like the others.

That Explore shows it too is tested with the screens, in tests/pages/test_explore.py.
"""

from fractions import Fraction

import numpy as np
import pytest

from ppsets_core import Calibration, Ledger, Records, plan, release_distribution, smallest_epsilon, smallest_n
from ppsets_core.__main__ import main
from ppsets_core.explore.labelled import Labelled
from ppsets_core.explore.sweeps import sweep, sweep_figure
from ppsets_core.method.rules import RULES
from ppsets_core.method.rules.rule import Aim, bisect_epsilon, bisect_n, no_gamma
from ppsets_core.method.rules.sharp import RankQuantile

SCORES = np.random.default_rng(0).random(1000)


class Even:
    """As careless as it is short: ρ = 1, and a rank that promises nothing beyond 1 − α."""

    name = "even"
    label = "even rule"
    sentence = "Only for this test."
    grid = (20, 50, 200)
    has_gamma = False

    def candidates(self, n, alpha, epsilon, bins, gamma):
        aims = [self.aim(n, alpha, epsilon, m, gamma) for m in bins]
        return [self.mechanism(aim.level, aim.rank, epsilon) for aim in aims]

    def aim(self, n, alpha, epsilon, m, gamma):
        no_gamma(gamma)
        rank = int(np.ceil((n + 1) * (1 - alpha) + 4 / epsilon + np.log(m)))
        return Aim(rank / n, 1 - alpha, rank=rank) if rank <= n else Aim(rank / n, 1.0)

    def mechanism(self, level, rank, epsilon):
        return None if rank is None else RankQuantile(rank, epsilon, Fraction(1))

    def smallest_n(self, alpha, epsilon, m):
        return bisect_n(self, alpha, epsilon, m or self.grid[0])

    def smallest_epsilon(self, n, alpha, m):
        return bisect_epsilon(self, n, alpha, m or self.grid[0])


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    monkeypatch.setitem(RULES, Even.name, Even())


def test_it_is_planned():
    planned = plan(1000, 0.1, 1.0, method="even")
    assert planned.m in Even.grid
    assert planned.mechanism == RankQuantile(planned.rank, 1.0, Fraction(1))
    assert planned.rank == int(np.ceil(900.9 + 4 + np.log(planned.m)))
    assert planned.coverage_lower == 0.9 < planned.coverage_expected < 1
    n = smallest_n(0.1, 1.0, "even")
    assert plan(n - 1, 0.1, 1.0, method="even").is_trivial
    assert not plan(n, 0.1, 1.0, method="even").is_trivial
    assert smallest_epsilon(1000, 0.1, "even") < 1


def test_it_is_released_and_its_calibration_is_read_again(tmp_path):
    ledger = Ledger(tmp_path / "ledger.sqlite")
    records = Records("ward", SCORES)
    planned = plan(1000, 0.1, 1.0, method="even")
    drawn = ledger.release(records, planned, ledger.account_for(records, "ward", 1))
    assert (drawn.method, drawn.plan) == ("even", planned)
    assert Calibration.from_json(drawn.to_json()) == drawn
    assert Ledger(tmp_path / "ledger.sqlite").releases()[0].calibration == drawn
    law = release_distribution(SCORES, planned)
    assert law.probability[np.searchsorted(law.upper, drawn.threshold)] > 0


def test_the_command_line_lists_and_plans_it(capsys):
    assert main(["plan", "--n", "1000", "--epsilon", "1", "--method", "even"]) == 0
    assert "even" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["plan", "--help"])
    assert ",even}" in capsys.readouterr().out


def test_it_is_swept_and_drawn():
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 3, 400)
    weights = rng.random((400, 3)) + np.eye(3)[labels]
    records = Labelled(weights / weights.sum(axis=1, keepdims=True), labels)
    swept = sweep(records, "epsilon", (1.0, 5.0), 5, rng, alpha=0.1, n=300)
    assert list(swept.results) == list(RULES)
    drawn = {trace.name: trace for trace in sweep_figure(swept, "coverage").data if trace.name}
    assert len(drawn["even rule"].x) == 2
    looks = {(trace.line.color, trace.line.dash) for name, trace in drawn.items() if name.endswith("rule")}
    assert len(looks) == 3, "each rule must look different"


def test_without_its_entry_it_is_unknown(monkeypatch):
    monkeypatch.delitem(RULES, "even")
    with pytest.raises(ValueError, match="method must be one of sharp, paper"):
        plan(1000, 0.1, 1.0, method="even")
