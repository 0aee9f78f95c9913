"""A third rule, entered in the registry, is planned, released, stored and listed like the others.

Its figures are in tests/explore/test_trade_offs.py, its screens in tests/pages/test_explore.py.
"""

import numpy as np
import pytest

from ppsets_core import (
    Calibration,
    Ledger,
    Records,
    plan,
    release_distribution,
    smallest_epsilon,
    smallest_n,
)
from ppsets_core.__main__ import main
from ppsets_core.method.rules import RULES
from tests.explore.third_rule import ThirdRule

RECORDS = Records("ward", np.random.default_rng(0).random(1000))


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    monkeypatch.setitem(RULES, ThirdRule.name, ThirdRule())


def test_it_is_planned_released_and_read_again(tmp_path, capsys):
    planned = plan(1000, 0.1, 1.0, method="third")
    assert planned.mechanism == plan(1000, 0.1, 1.0, method="paper").mechanism
    n = smallest_n(0.1, 1.0, "third")
    assert [plan(count, 0.1, 1.0, method="third").is_trivial for count in (n - 1, n)] == [True, False]
    assert smallest_epsilon(1000, 0.1, "third") < 1
    ledger = Ledger(tmp_path / "ledger.sqlite")
    drawn = ledger.release(RECORDS, planned, ledger.account_for(RECORDS, "ward", 1))
    assert (drawn.method, drawn.plan) == ("third", planned)
    assert (
        Calibration.from_json(drawn.to_json()) == drawn == Ledger(tmp_path / "ledger.sqlite").releases()[0].calibration
    )
    law = release_distribution(RECORDS.scores, planned)
    assert law.probability[np.searchsorted(law.upper, drawn.threshold)] > 0
    with pytest.raises(SystemExit):
        main(["plan", "--help"])
    assert ",third}" in capsys.readouterr().out
