"""The shelf on the screens: published after a release or on Ledger, chosen on Diagnose, kept over a reload."""

import time

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.widgets import person, session, spend
from ppsets_core.access import CURATOR, STEWARD, VIEWER, Person
from tests.ledger.spending import spend as charge
from tests.pages.driving import ROOT, button, field, labels, texts

SCORES = np.linspace(0, 1, 600)


@pytest.fixture
def as_role(monkeypatch):
    """Make everyone who uses the app a person with these roles, as a log-in would."""

    def log_in(*roles: str) -> None:
        somebody = Person("https://id.example", "-".join(roles), frozenset(roles), time.time() + 600)
        for module in (person, session, spend):
            monkeypatch.setattr(module, "login_is_configured", lambda: True)
        for module in (person, session):
            monkeypatch.setattr(module, "bearer", lambda: lambda: somebody)
        monkeypatch.setattr(person, "_claims", lambda: {"is_logged_in": True, "name": "-".join(roles)})

    return log_in


def opened(screen: str, **parameters: str) -> AppTest:
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    at.query_params.update(parameters)
    return at.run().switch_page(f"pages/{screen}.py").run()


def confirm(at: AppTest, verb: str, why: str = "for the ward") -> AppTest:
    field(at.text_input, f"shelf_{verb}").set_value(why).run()
    return button(at, f"{verb} release").click().run()


def test_from_curator_to_viewer_over_a_reload_until_a_steward_withdraws_it(ledger, as_role):
    ledger.open_account("ward [3](x)", 5)
    as_role(CURATOR)
    at = opened("calibrate")
    assert at.selectbox(key="name_bundled").options == ["ward [3](x)"], "accounts are chosen, not typed"
    assert "a steward opens it" in texts(at)
    at.selectbox(key="name_bundled").set_value("ward [3](x)").run()
    button(at, "Calibrate …").click().run()
    field(at.text_input, "release_reason").set_value("a model").run()
    button(at, "Spend ε").click().run()
    confirm(at, "Publish")
    (made,) = ledger.releases()
    assert [one.release for one in ledger.published()] == [made.id]
    assert "Withdraw …" not in labels(at), "only a steward may"
    as_role(VIEWER)
    at = opened("diagnose")
    assert "n = 536 patients" in at.selectbox(key="shelf_pick").options[0]
    button(at, "Use this calibration").click().run()
    assert at.session_state["active_calibration"] == made.calibration
    assert at.query_params["release"] == "1"
    again = opened("diagnose", release="1")
    assert again.session_state["active_calibration"] == made.calibration
    assert "Calibrated with ward [3](x), release 1" in texts(again)
    as_role(STEWARD)
    confirm(opened("ledger"), "Withdraw")
    assert ledger.published() == []
    as_role(VIEWER)
    again.run()
    assert "was withdrawn" in texts(again)
    assert again.session_state["active_calibration"] is None
    assert "active_calibration" not in opened("diagnose", release="1").session_state
    assert "release" not in again.query_params


def test_an_address_that_names_nothing_published_is_ignored(ledger):
    ledger.open_account("ward", 5)
    charge(ledger, 1.0, SCORES)
    for number in ("1", "2", "-1", "9" * 5000, "x"):
        at = opened("diagnose", release=number)
        assert at.session_state["active_calibration_source"] == "ward", "the ledger's last, as without an address"
        assert "release" not in at.query_params


def test_a_curator_asks_a_steward_where_the_budget_is_short(ledger, as_role, upload):
    ledger.open_account("ward", 0.6)
    as_role(CURATOR)
    at = upload(700)
    assert "ε = 1 is more than the whole budget of 0.6" in texts(at)
    assert "ask a steward to raise the budget" in texts(at)
    assert "Go to Ledger" not in labels(at)
