"""Home: the demo always ends calibrated, is charged once, and says what it did."""

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.widgets import demo
from pages.widgets.session import bundled_scores
from ppsets_core import Calibration, one_per_patient, plan
from ppsets_core.data import bundled
from ppsets_core.model_fingerprint import bundled_fingerprint
from tests.ledger.spending import spend
from tests.pages.driving import ROOT, button, metrics, texts


@pytest.fixture(autouse=True)
def nothing_is_classified(monkeypatch):
    """What the demo's X-rays come to is shown in a browser."""
    monkeypatch.setattr(demo, "start", lambda source: None)


def threshold(at: AppTest) -> float:
    return at.session_state["active_calibration"].threshold


def said(at: AppTest) -> str:
    return at.toast[0].value.replace("\\", "")


def test_demo_is_one_click_and_one_charge_for_all_sessions(app, ledger):
    assert "No calibration yet" in texts(app)
    button(app, "Try it").click().run()
    other = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).run()
    assert "In use: coronahack-demo" in texts(other), "as after a reload"
    assert threshold(other) == threshold(app)
    button(other, "Try it").click().run()
    (release,) = ledger.releases("coronahack-demo")
    assert threshold(app) == threshold(other) == release.calibration.threshold
    assert "Calibrated with coronahack-demo" in texts(app)
    assert app.title[0].value == other.title[0].value == "Diagnose", "it leads straight to the sets"
    assert isinstance(app.session_state["active_calibration"], Calibration)
    assert (release.calibration.unit, release.calibration.model) == ("patient", bundled_fingerprint())
    assert "coverage does not hold" not in texts(app)


def test_demo_uses_the_last_release_when_the_budget_is_used_up(app, ledger):
    records = one_per_patient(bundled_scores("calibration"))
    account = ledger.open_account("coronahack-demo", 0.8)
    earlier = ledger.release(records, plan(len(records), 0.2, 0.8), account)
    button(app, "Try it").click().run()
    assert threshold(app) == earlier.threshold
    assert "Using the practice release of 'coronahack-demo' again" in said(app)
    assert len(ledger.releases()) == 1


def test_demo_does_not_take_anothers_account(app, ledger):
    ledger.open_account("coronahack-demo", 5)
    spend(ledger, 1.0, np.linspace(0, 1, 500), "coronahack-demo")
    button(app, "Try it").click().run()
    assert len(ledger.releases("coronahack-demo")) == len(ledger.releases("coronahack-demo-2")) == 1
    assert "charged to 'coronahack-demo-2'" in said(app)


def test_demo_asks_anew_for_a_release_that_was_charged_and_never_drawn(app, ledger, monkeypatch):
    monkeypatch.setattr(demo, "_SECONDS", 0)

    def killed(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("ppsets_core.ledger.ledger.release", killed)
        with pytest.raises(KeyboardInterrupt):
            demo.run_demo(lambda: ledger)
    button(app, "Try it").click().run()
    wasted, drawn = ledger.releases("coronahack-demo")
    assert wasted.calibration is None
    assert threshold(app) == drawn.calibration.threshold


def test_demo_without_a_ledger_is_marked_as_a_simulation(app, home, monkeypatch):
    monkeypatch.setattr(demo, "_SECONDS", 0)
    home.mkdir(exist_ok=True)
    (home / "ledger.sqlite").write_text("not a ledger, and long enough to be taken for a damaged file" * 50)
    button(app, "Try it").click().run()
    assert "it is no private release" in said(app)
    assert "This calibration is a simulation, not a private release" in texts(app)
    app.switch_page("pages/home.py").run()
    assert "Simulation, not a release" in texts(app)
    assert "No record is protected" in texts(app)
    assert "protected by 1-differential" not in texts(app)
    assert metrics(app)["ε spent"] == ["0"]


def test_missing_bundled_scores_are_told(app, monkeypatch, tmp_path):
    monkeypatch.setattr(bundled, "CORONAHACK", tmp_path / "coronahack_softmax.csv")
    bundled_scores.clear()
    button(app, "Try it").click().run()
    assert "coronahack_softmax.csv) are missing" in texts(app)
