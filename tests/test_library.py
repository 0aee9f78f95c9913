"""The library as someone uses it who has read the README and nothing else: no step of the way is a trap."""

import numpy as np
import pytest

import ppsets_core as pp

SHARES = np.random.default_rng(0).random(1200)
RECORDS = pp.records(np.column_stack([SHARES, 1 - SHARES]), np.random.default_rng(1).random(1200) > SHARES)


def test_the_plan_that_was_shown_is_the_one_that_is_carried_out(tmp_path, monkeypatch):
    ledger, shown = pp.Ledger(tmp_path / "ledger.sqlite"), pp.plan(len(RECORDS), 0.1, 1.0, m=77)

    def planned_again(*_, **__):
        raise AssertionError("planned a second time")

    for module in ("method.plan", "method.calibration_json", "data.counts"):
        monkeypatch.setattr(f"ppsets_core.{module}.plan", planned_again)
    assert ledger.release(RECORDS, shown, ledger.account_for(RECORDS, "ward", 5)).plan == shown


def test_every_name_that_is_offered_is_there_the_networks_too():
    for name in [*pp.__all__, "XrayModel", "load_model", "predict", "predict_folder"]:
        assert getattr(pp, name) is not None
        assert name in dir(pp)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = pp.nothing
