"""After a reload nobody pays twice: Home and Diagnose offer the last paid release again."""

import numpy as np
import pytest

from tests.ledger.spending import spend
from tests.pages.driving import button, labels, texts

OFFER = "Use this release again"


@pytest.mark.parametrize("name", ["home", "diagnose"])
def test_the_last_paid_release_is_offered_and_taken_up(screen, ledger, home, name):
    ledger.open_account("ward *3*", 5)
    assert OFFER not in labels(screen(name)), "nothing was released"
    spend(ledger, 1.0, np.linspace(0, 1, 700), "ward *3*")
    last = spend(ledger, 0.5, np.linspace(0, 1, 700), "ward *3*")
    at = screen(name)
    assert "from ward *3*" in texts(at)
    assert "ε = 0.5" in texts(at)
    button(at, OFFER).click().run()
    assert at.session_state["active_calibration"] == last
    assert at.session_state["active_calibration_source"] == "ward *3*"
    assert OFFER not in labels(at)
    assert str(ledger.account("ward *3*").spent) == "1.5"


def test_a_damaged_ledger_does_not_take_diagnose_down(screen, home):
    home.mkdir(exist_ok=True)
    (home / "ledger.sqlite").write_text("not a ledger, and long enough to be taken for a damaged file" * 50)
    at = screen("diagnose")
    assert "This session has no calibration yet" in texts(at)
    assert OFFER not in labels(at)
