"""A third rule, entered in the registry, is planned, released, stored and listed like the others.

Its figures are in tests/explore/test_trade_offs.py, its screens in tests/pages/test_explore.py.
"""

import numpy as np
import pytest

import ppsets_core as pp
from ppsets_core.__main__ import main
from ppsets_core.method.rules import RULES
from tests.explore.third_rule import ThirdRule

RECORDS = pp.Records("ward", np.random.default_rng(0).random(1000))


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    monkeypatch.setitem(RULES, ThirdRule.name, ThirdRule())


def test_it_is_planned_released_and_read_again(tmp_path, capsys):
    planned = pp.plan(1000, 0.1, 1.0, method="third")
    assert planned.mechanism == pp.plan(1000, 0.1, 1.0, method="paper").mechanism
    n = pp.smallest_n(0.1, 1.0, "third")
    assert [pp.plan(count, 0.1, 1.0, method="third").is_trivial for count in (n - 1, n)] == [True, False]
    assert pp.smallest_epsilon(1000, 0.1, "third") < 1
    ledger = pp.Ledger(tmp_path / "ledger.sqlite")
    drawn = ledger.release(RECORDS, planned, ledger.account_for(RECORDS, "ward", 1))
    assert (drawn.method, drawn.plan) == ("third", planned)
    assert (
        pp.Calibration.from_json(drawn.to_json())
        == drawn
        == pp.Ledger(tmp_path / "ledger.sqlite").releases()[0].calibration
    )
    law = pp.release_distribution(RECORDS.scores, planned)
    assert law.probability[np.searchsorted(law.upper, drawn.threshold)] > 0
    with pytest.raises(SystemExit):
        main(["plan", "--help"])
    assert ",third}" in capsys.readouterr().out
