"""Ledger: accounts, releases and history as they are; raising asks twice and is recorded."""

import json
from decimal import Decimal

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from ppsets_core import BudgetError
from ppsets_core.ledger.export import export_csv, export_json
from ppsets_core.method.rules import DEFAULT
from tests.ledger.spending import spend
from tests.pages.driving import ROOT, button, texts

SCORES = np.linspace(0, 1, 600)


@pytest.fixture
def used(ledger):
    ledger.open_account("ward", 2)
    spend(ledger, 1.5, SCORES)
    return ledger


def test_what_is_left_is_drawn_and_releases_are_tabled(used, screen):
    at = screen("ledger")
    releases, history = (each.value for each in at.dataframe)
    bars, stairs = (json.loads(chart.proto.spec)["data"] for chart in at.get("plotly_chart"))
    assert [(bar["name"], bar["x"], bar.get("text")) for bar in bars] == [
        ("left", [0.25], ["0.5 of 2 left"]),
        ("spent", [0.75], None),
    ]
    assert len(stairs) == 2
    (release,) = used.releases()
    row = releases.iloc[0]
    assert (row["data set"], row["ε"], row["rule"], row["status"]) == ("ward", "1.5", DEFAULT, "released")
    assert row["ŝ"] == f"{release.calibration.threshold:.6g}"
    assert list(history["budget"]) == ["2"]
    assert at.code[0].value == used.loss_in_words("ward"), "what patient 17 has lost at most"
    assert "ε = 1.5" in at.code[0].value


def test_raising_a_budget_asks_first_is_recorded_and_never_lowers(used, screen):
    used.open_account("another", 1_000_000)
    at = screen("ledger")
    assert at.selectbox(key="raise_name").value == "ward", "the one that was charged last"
    at.number_input(key="raise_to_ward").set_value(1.0).run()
    button(at, "Raise to 1").click().run()
    assert "it can only be raised" in texts(at)
    at.number_input(key="raise_to_ward").set_value(4.0).run()
    assert "Raise the budget of ward from 2 to 4?" in texts(at)
    assert used.account("ward").budget == 2
    at.text_input(key="raise_reason").set_value("a second model").run()
    button(at, "Raise to 4").click().run()
    assert used.account("ward").budget == Decimal(4)
    assert used.snapshot().budget_changes[-1].reason == "a second model"
    assert "The budget of 'ward' is 4 now" in texts(at)
    at.selectbox(key="raise_name").set_value("another").run()
    assert at.number_input(key="raise_to_another").value == 1_000_001


def test_a_release_is_reused_for_free_and_one_of_another_model_is_warned_of(used, screen):
    used.raise_budget("ward", 5)
    spend(used, 1.5, SCORES, unit="patient", model="0" * 16)
    at = screen("ledger")
    rows = at.dataframe[0].value
    assert list(rows["protects one"]) == ["patient", "record"]
    assert list(rows["model"]) == ["0" * 16, "unknown"]
    assert "its coverage does not hold" in texts(at)
    at.selectbox(key="use_again").select_index(1).run()
    assert "its coverage does not hold" not in texts(at)
    button(at, "Use this calibration").click().run()
    assert "Calibrated with ward" in texts(at)
    assert "In use in this browser session" in texts(at)
    assert used.account("ward").spent == 3


def test_an_empty_ledger_and_a_wasted_charge_are_shown_as_such(ledger, screen, monkeypatch):
    def killed(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("ppsets_core.ledger.ledger.release", killed)
    assert "The ledger is empty" in texts(screen("ledger"))
    ledger.open_account("ward", 2)
    with pytest.raises(KeyboardInterrupt):
        spend(ledger, 0.5, SCORES)
    at = screen("ledger")
    assert at.dataframe[0].value.iloc[0]["status"] == "charged, not released"


def test_refusals_are_shown_as_not_private_and_are_in_no_export(used, screen):
    with pytest.raises(BudgetError):
        spend(used, 0.75, SCORES)
    at = screen("ledger")
    assert list(at.dataframe[2].value["ε"]) == ["0.75"]
    assert "not private" in texts(at)
    assert "0.75" not in export_json(used) + export_csv(used)


def test_the_last_paid_release_is_taken_up_by_a_new_session_and_said(ledger, home):
    ledger.open_account("ward *3*", 5)
    spend(ledger, 1.0, SCORES, "ward *3*")
    last = spend(ledger, 0.5, SCORES, "ward *3*")
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).run()
    assert "In use: ward *3*" in texts(at)
    assert at.session_state["active_calibration"] == last
    assert at.session_state["active_calibration_source"] == "ward *3*"
    at.session_state["active_calibration"] = None
    assert at.run().session_state["active_calibration"] is None, "at its start only"
    assert str(ledger.account("ward *3*").spent) == "1.5"
