"""Calibrate's last step: one confirmed click is one charge, and refusals say what to do."""

import numpy as np
import pytest

from pages.widgets import spend
from tests.pages.driving import button, field, labels, metrics, records_read, release, texts


def test_one_confirmed_click_is_one_charge(upload, ledger):
    at = upload(700)
    button(at, "Calibrate …").click().run()
    assert "Spend ε = 1 of the budget of ward?" in texts(at)
    assert "Releases under this name have cost 0 of 2" in texts(at)
    assert ledger.releases() == []
    field(at.text_input, "release_reason").set_value("first ward").run()
    button(at, "Spend ε").click().run()
    (made,) = ledger.releases("ward")
    assert made.reason == "first ward"
    assert metrics(at)["Threshold ŝ"] == [f"{made.calibration.threshold:.6g}"]
    assert "Calibrated with ward" in texts(at)
    own = at.session_state["active_calibration"]
    at.session_state["active_calibration"] = None
    button(at.run(), "Go to Diagnose").click().run()
    assert at.session_state["active_calibration"] == own
    assert len(ledger.releases()) == 1


def test_an_interrupted_or_repeated_click_is_charged_once(upload, ledger):
    """A second click interrupts the run of the first: before it spends, or before its result was taken over."""
    at = upload(700)
    button(at, "Calibrate …").click().run()
    pending = at.session_state["pending_release"]
    pending.is_confirmed = True
    at.run()
    assert "pending_release" not in at.session_state
    (made,) = ledger.releases()
    assert at.session_state["active_calibration"] == made.calibration
    at.session_state["pending_release"] = pending
    pending.carry_out(lambda spending: pytest.fail("It was carried out before."))
    assert at.run().session_state["spent_release"] is pending
    records, terms = at.session_state["reading_scores"].records, pending.terms
    assert ledger.release(records, terms.how, terms.account, request=pending.request) == made.calibration
    assert len(ledger.releases()) == 1


def test_the_confirm_step_closes_when_it_is_cancelled_or_its_terms_change(upload, ledger):
    scores = np.random.default_rng(0).random(1400).tolist()
    rows = [f"{score!r},{'north' if i % 2 else 'south'}" for i, score in enumerate(scores)]
    at = upload(content="\n".join(["score,split", *rows]).encode())
    part = field(at.selectbox, "part_").key
    for change in (
        lambda: button(at, "Cancel").click(),
        lambda: at.select_slider(key="epsilon").set_value(0.9),
        lambda: at.selectbox(key=part).set_value("south"),
    ):
        button(at, "Calibrate …").click().run()
        change().run()
        assert not any(label.startswith("Spend") for label in labels(at))
    release(at, "ε = 0.9")
    assert "Your calibration" in texts(at)
    at.selectbox(key=part).set_value("north").run()
    assert "Your calibration" not in texts(at), "it is of the other part"
    assert [one.calibration.epsilon for one in ledger.releases()] == [0.9]


def test_a_budget_that_does_not_suffice_is_refused_with_what_can_be_done(upload, ledger, monkeypatch):
    at = upload(700)
    field(at.number_input, "budget_").set_value(0.6).run()
    assert "ε = 1 is more than the whole budget of 0.6" in texts(at)
    assert "Calibrate …" not in labels(at)
    button(at, "Use ε = 0.6").click().run()
    release(at, "ε = 0.6")
    assert "A patient who was in all of them has 0 left" in texts(at)
    assert "Go to Ledger" in labels(at)
    release(at, "ε = 0.6")
    assert "Release no. 1 of 'ward'" in texts(at), "a repeat is recognised before it is paid"
    pending = at.session_state["pending_release"]
    with monkeypatch.context() as context:
        context.setattr(spend.st, "session_state", {"pending_release": pending})
        spend._agree(pending, "")
    assert not pending.is_confirmed, "the second click of a double click does not insist"
    button(at, "Use release no. 1 (free)").click().run()
    assert at.session_state["spent_release"].result == ledger.releases()[0].calibration
    release(at, "ε = 0.6")
    button(at, "Spend ε = 0.6 once more").click().run()
    assert "Not everyone in" in texts(at)
    assert (len(ledger.releases()), len(ledger.snapshot().refusals)) == (1, 1)
    assert "Not everyone in" not in texts(upload(700, seed=5, name="other.csv"))
    at = upload(60, name="few.csv")
    at.radio(key="rule").set_value("paper").run()
    at.button(key="apply_paper").click().run()
    assert "set a larger budget above" in texts(at)
    assert "apply_left" not in {each.key for each in at.button}, "what is left buys no useful set"
    field(at.number_input, "budget_").set_value(1000.0).run()
    assert "A budget of 1,000 protects almost nobody" in texts(at)


def test_the_screen_does_not_tell_whether_the_ledger_has_met_the_records(upload, ledger, score_csv):
    at = release(upload(700))
    met, new = (texts(upload(name="other.csv", content=score_csv(700, seed))) for seed in (0, 1))
    assert met == new
    assert "it must name no patient" in field(at.selectbox, "name_").help
    assert ledger.snapshot().refusals == ()


def test_what_was_read_is_summarised_and_what_all_records_of_a_patient_cost(upload, ledger):
    several = "ε protects one record: a patient with several records loses up to several times as much"
    at = upload(900, patients=600)
    field(at.number_input, "budget_").set_value(3.0).run()
    for single, used, protected in ((False, "900", "not one patient"), (True, "600", "ε protects the patient")):
        at.toggle(key="one_per_patient").set_value(single).run()
        assert records_read(at) == ["900", "600", used]
        assert protected in texts(at).replace("*", "")
        button(at, "Calibrate …").click().run()
        assert (several in texts(at)) is not single
        button(at, "Spend ε").click().run()
    made = [(one.calibration.unit, one.calibration.model) for one in ledger.releases()]
    assert made == [("record", None), ("patient", None)]
