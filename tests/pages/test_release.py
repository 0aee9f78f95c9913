"""Calibrate's last step: one confirmed click is one charge, and refusals say what to do."""

import numpy as np
import pytest

from ppsets_core import read_scores
from ppsets_core.model_fingerprint import bundled_fingerprint
from tests.ledger.spending import spend
from tests.pages.driving import button, labels, metrics, texts


def test_one_confirmed_click_is_one_charge(upload, ledger):
    at = upload(700)
    button(at, "Calibrate …").click().run()
    assert "Spend ε = 1 of the budget of ward?" in texts(at)
    assert "2 in all, of which releases under this name have cost 0" in texts(at)
    assert ledger.releases() == []
    at.text_input(key=next(e.key for e in at.text_input if e.key.startswith("release_reason"))).set_value(
        "first ward"
    ).run()
    button(at, "Spend ε").click().run()
    (release,) = ledger.releases("ward")
    assert release.reason == "first ward"
    assert metrics(at)["Threshold ŝ"] == [f"{release.calibration.threshold:.6g}"]
    assert "Calibrated with ward" in texts(at)
    at.run()
    assert len(ledger.releases()) == 1


def test_an_interrupted_or_repeated_click_is_charged_once(upload, ledger):
    """A second click interrupts the run of the first: before it spends, or before its result was taken over."""
    at = upload(700)
    button(at, "Calibrate …").click().run()
    pending = at.session_state["pending_release"]
    at.text_input(key=f"release_reason_{pending.request}").set_value("audit")
    pending.is_confirmed = True
    at.run()
    assert "pending_release" not in at.session_state
    (release,) = ledger.releases()
    assert at.session_state["active_calibration"] == release.calibration
    at.session_state["pending_release"] = pending  # its result was not taken over by the run that spent
    pending.carry_out(lambda spending: pytest.fail("It was carried out before."))
    assert at.run().session_state["spent_release"] is pending
    again = ledger.release(*of_release(pending), request=pending.request, reason="audit")
    assert again == release.calibration
    assert len(ledger.releases()) == 1


def of_release(pending):
    return pending.terms.of[1], pending.terms.how, pending.terms.account


def test_confirm_step_is_cancelled_and_closes_when_the_terms_change(upload, ledger):
    at = upload(700)
    button(at, "Calibrate …").click().run()
    button(at, "Cancel").click().run()
    button(at, "Calibrate …").click().run()
    at.select_slider(key="epsilon").set_value(0.9).run()
    assert "Calibrate …" in labels(at)
    assert not any(label.startswith("Spend") for label in labels(at))
    button(at, "Calibrate …").click().run()
    button(at, "Spend ε = 0.9").click().run()
    assert [release.calibration.epsilon for release in ledger.releases()] == [0.9]


def test_confirm_step_closes_and_the_result_goes_when_another_part_of_the_file_is_chosen(upload, ledger):
    scores = np.random.default_rng(0).random(1400).tolist()
    rows = [f"{score!r},{'north' if i % 2 else 'south'}" for i, score in enumerate(scores)]
    at = upload(content="\n".join(["score,split", *rows]).encode())
    part = next(one.key for one in at.selectbox if one.key.startswith("part_"))
    at.selectbox(key=part).set_value("north").run()
    button(at, "Calibrate …").click().run()
    at.selectbox(key=part).set_value("south").run()
    assert not any(label.startswith("Spend") for label in labels(at))
    button(at, "Calibrate …").click().run()
    button(at, "Spend ε").click().run()
    assert "Your calibration" in texts(at)
    at.selectbox(key=part).set_value("north").run()
    assert "Your calibration" not in texts(at)
    assert len(ledger.releases()) == 1


def test_a_refusal_is_shown_with_the_records_that_it_is_about(upload, ledger, score_csv):
    at = upload(700)
    for _ in range(3):
        button(at, "Calibrate …").click().run()
        button(at, "Spend ε").click().run()
    assert "Not everyone in these records has room" in texts(at)
    at = upload(700, seed=5, name="other.csv")
    assert "Not everyone in these records has room" not in texts(at)


def test_the_way_to_diagnose_takes_the_calibration_shown_along(upload):
    at = upload(700)
    button(at, "Calibrate …").click().run()
    button(at, "Spend ε").click().run()
    own = at.session_state["active_calibration"]
    at.session_state["active_calibration"] = None
    button(at.run(), "Go to Diagnose").click().run()
    assert at.session_state["active_calibration"] == own


def test_a_budget_that_buys_no_useful_set_is_not_offered(upload):
    at = upload(60)
    at.radio(key="rule").set_value("paper").run()
    at.button(key="apply_paper").click().run()
    assert "set a larger budget above" in texts(at)
    assert "apply_left" not in {each.key for each in at.button}


def test_over_budget_is_refused_with_what_can_be_done(upload, ledger):
    at = upload(700)
    at.number_input(key=next(e.key for e in at.number_input if e.key.startswith("budget_"))).set_value(0.6).run()
    assert "ε = 1 is more than the whole budget of 0.6" in texts(at)
    assert "Calibrate …" not in labels(at)
    button(at, "Use ε = 0.6").click().run()
    button(at, "Calibrate …").click().run()
    button(at, "Spend ε = 0.6").click().run()
    assert "A patient who was in all of them has 0 left" in texts(at)
    assert "Go to Ledger" in labels(at)
    button(at, "Calibrate …").click().run()
    button(at, "Spend ε = 0.6").click().run()
    assert "Not everyone in these records has room" in texts(at)
    assert len(ledger.releases()) == 1
    assert len(ledger.refusals()) == 1


def test_the_screen_does_not_tell_whether_the_ledger_has_met_the_records(upload, ledger, score_csv):
    at = upload(700)
    button(at, "Calibrate …").click().run()
    button(at, "Spend ε").click().run()
    met, new = (texts(upload(name="other.csv", content=score_csv(700, seed))) for seed in (0, 1))
    assert met == new
    assert "Calibrate …" in labels(at)
    assert ledger.refusals() == ()


def test_the_last_release_of_the_name_is_offered_again(upload, ledger):
    at = upload(700)
    button(at, "Calibrate …").click().run()
    button(at, "Spend ε").click().run()
    at = upload(name="ward.csv")
    assert "Using it again costs nothing" in texts(at)
    button(at, "Use the last release again").click().run()
    (release,) = ledger.releases()
    assert metrics(at)["Threshold ŝ"] == [f"{release.calibration.threshold:.6g}"]


def test_where_all_records_of_a_patient_are_used_the_confirm_step_says_what_that_costs(upload, ledger):
    at = upload(900, patients=600)
    at.number_input(key=next(e.key for e in at.number_input if e.key.startswith("budget_"))).set_value(3.0).run()
    button(at, "Calibrate …").click().run()
    assert "loses up to several times as much" not in texts(at)
    at.toggle(key="one_per_patient").set_value(False).run()
    button(at, "Calibrate …").click().run()
    assert "ε protects one record: a patient with several records loses up to several times as much" in texts(at)
    button(at, "Spend ε").click().run()
    at.toggle(key="one_per_patient").set_value(True).run()
    button(at, "Calibrate …").click().run()
    button(at, "Spend ε").click().run()
    assert [(r.calibration.unit, r.calibration.model) for r in ledger.releases()] == [
        ("record", None),
        ("patient", None),
    ]


@pytest.mark.parametrize("other", [{"model": "0" * 16}, {"unit": "patient"}])
def test_an_earlier_release_of_another_model_or_unit_is_not_offered_again(upload, ledger, score_csv, other):
    scores = read_scores(score_csv(700), "ward.csv").scores
    ledger.open_account("ward", 5)
    spend(ledger, 1.0, scores, **other)
    at = upload(700)
    assert "Use the last release again" not in labels(at)
    spend(ledger, 1.0, scores)
    assert "Use the last release again" in labels(at.run())


def test_the_name_field_says_that_the_name_is_kept_and_must_name_no_patient(upload):
    assert "it must name no patient" in texts(upload(700))


def test_bundled_scores_are_calibrated_for_the_bundled_model(at, ledger):
    button(at, "Calibrate …").click().run()
    button(at, "Spend ε").click().run()
    (release,) = ledger.releases()
    assert (release.calibration.unit, release.calibration.model) == ("patient", bundled_fingerprint())
