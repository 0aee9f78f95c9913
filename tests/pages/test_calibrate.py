"""Calibrate: what was read, the plan that follows the choices, and calibrations that were saved."""

import json

import numpy as np
import pytest

from ppsets_core import calibrate, plan, simulate, smallest_epsilon
from ppsets_core.method.rules import DEFAULT, RULES
from ppsets_core.method.sets import conformal_rank
from ppsets_core.scores import score_named
from tests.ledger.spending import records_of, spend
from tests.pages.driving import button, labels, metrics, records_read, release, texts

SCORES = np.linspace(0, 1, 500)


def test_plans_of_both_rules_follow_the_sliders_and_what_is_set_by_hand(upload):
    at = upload(700)
    assert at.radio(key="rule").value == DEFAULT == "sharp"
    at.slider(key="alpha").set_value(0.2).run()
    at.select_slider(key="epsilon").set_value(0.8).run()
    sharp, paper = (plan(700, 0.2, 0.8, method=rule) for rule in RULES)
    rank, shown, said = conformal_rank(700, 0.2), metrics(at), texts(at).replace("*", "")
    assert (shown["m*"], shown["γ*"]) == ([f"{sharp.m:,}"], ["none"])
    assert f"The paper's rule: m {paper.m:,} · γ {paper.gamma:.3g} · set size" in said
    for chosen in (sharp, paper):
        assert f"level {chosen.level:.4f}" in said
        assert f"Extra margin for privacy: {round(chosen.level * 700 - rank, 1):g} of 700 records" in said
    assert "about rank " in said, "the paper's level lies between two ranks"
    at.radio(key="rule").set_value("paper").run()
    shown = metrics(at)
    assert (shown["m*"], shown["γ*"]) == ([f"{paper.m:,}"], [f"{paper.gamma:.3g}"])
    assert shown["Promised"] == [f"≥ {100 * paper.coverage_lower:.1f}%"]
    assert shown["Expected"] == [f"{100 * paper.coverage_expected:.1f}%"]
    assert f"The sharp rule: m {sharp.m:,} · γ none" in texts(at).replace("*", "")
    at.number_input(key="own_m").set_value(1000).run()
    at.number_input(key="own_gamma").set_value(0.25).run()
    at.number_input(key="exact_epsilon").set_value(1.234).run()
    assert (at.select_slider(key="epsilon").value, at.number_input(key="exact_epsilon").value) == (1.234, None)
    by_hand = plan(700, 0.2, 1.234, method="paper", m=1000, gamma=0.25)
    assert f"level {by_hand.level:.4f}" in texts(at)


def test_one_threshold_for_all_says_what_each_diagnosis_gets_before_and_after(at, ledger):
    assert "By diagnosis (CoronaHack): Bacterial pneumonia 93% · Normal > 99% · Viral pneumonia 80%. " in texts(
        at
    ).replace("**", "")
    assert texts(at).count(":material/warning:") == 1
    at.radio(key="promise").set_value("each diagnosis").run()
    assert "By diagnosis" not in texts(at)
    at.radio(key="promise").set_value("all patients together").run()
    release(at)
    assert texts(at).count("By diagnosis (CoronaHack): Bacterial pneumonia") == 2


@pytest.mark.parametrize("score", ["aps", "raps"])
def test_another_score_is_calibrated_and_its_sets_are_shown_on_diagnose(at, ledger, score):
    assert at.radio(key="score").value == "lac"
    at.radio(key="score").set_value(score).run()
    release(at)
    (made,) = ledger.releases()
    assert made.calibration.score == score_named(score)
    at.switch_page("pages/diagnose.py").run()
    assert not at.error


@pytest.mark.parametrize("rule", RULES)
def test_trivial_plan_is_told_before_spending_and_its_remedy_applies(upload, ledger, rule):
    at = upload(120)
    at.radio(key="rule").set_value(rule).run()
    at.select_slider(key="epsilon").set_value(0.02).run()
    assert "Too few records for this α and ε" in texts(at)
    assert "There is nothing to spend on yet" in texts(at)
    assert "Calibrate …" not in labels(at)
    at.button(key=f"apply_{rule}").click().run()
    applied = at.select_slider(key="epsilon").value
    assert smallest_epsilon(120, 0.1, rule) <= applied <= smallest_epsilon(120, 0.1, rule) * 1.01
    assert not plan(120, 0.1, applied, method=rule).is_trivial
    assert f"apply_{rule}" not in {each.key for each in at.button}
    assert ledger.releases() == []


def test_where_only_the_other_rule_has_enough_records_it_is_offered(upload):
    at = upload(60)
    at.number_input(key="own_gamma").set_value(0.25).run()
    assert not at.error, "the sharp rule has no γ"
    assert "use_sharp" not in {each.key for each in at.button}
    at.radio(key="rule").set_value("paper").run()
    assert "Too few records for this α and ε" in texts(at)
    at.button(key="use_sharp").click().run()
    assert at.radio(key="rule").value == "sharp"
    assert "Calibrate …" in labels(at)


def test_choices_are_kept_when_the_screen_is_left_and_a_file_is_forgotten_when_removed(upload, app):
    at = upload(700)
    at.select_slider(key="epsilon").set_value(0.9).run()
    at.radio(key="rule").set_value("paper").run()
    at.switch_page("pages/ledger.py").run()
    at.switch_page("pages/calibrate.py").run()
    assert records_read(at)[0] == "700"
    assert (at.select_slider(key="epsilon").value, at.radio(key="rule").value) == (0.9, "paper")
    at.file_uploader(key="score_file").set_value(("b.csv", b"score\n0.1\n0.2\n", "text/csv")).run()
    assert records_read(at)[0] == "2"
    at.file_uploader(key="score_file").clear().run()
    assert records_read(at) == []


def load(at, content: bytes):
    at.radio(key="source").set_value("A saved calibration").run()
    return at.file_uploader(key="saved_calibration").set_value(("kept.json", content, "application/json")).run()


def test_saved_release_is_loaded_and_a_simulation_is_marked(at):
    simulated = simulate(SCORES, plan(len(SCORES), 0.1, 1.0), np.random.default_rng(0))
    button(load(at, simulated.to_json().encode()), "Use this simulation").click().run()
    assert "Simulation, not a release" in texts(at)
    released = calibrate(records_of(SCORES, model="0" * 16, unit="patient"), 0.1, 1.0)
    load(at, released.to_json().encode())
    assert "n = 500 patients" in texts(at)
    assert texts(at).count("its coverage does not hold") == 1, "it is of another model"
    button(at, "Use this calibration").click().run()
    assert texts(at).count("its coverage does not hold") == 1
    assert "Simulation" not in texts(at)
    assert "Calibrated with kept.json" in texts(at)
    assert metrics(at)["Threshold ŝ"] == [f"{released.threshold:.6g}"]


@pytest.mark.parametrize("content", [b"{}", b"\xff\xfe", b"[" * 20_000, b'{"format": "other"}'])
def test_bad_saved_calibrations_get_a_sentence(at, content):
    load(at, content)
    assert "This calibration cannot be used" in texts(at)
    assert "Calibrated with" not in texts(at)


def test_a_saved_release_is_compared_with_the_ledger(at, ledger):
    ledger.open_account("ward", 5)
    document = json.loads(spend(ledger, 1.0, np.linspace(0, 1, 700), "ward", m=100).to_json())
    (target,) = document["targets"]
    other = {"targets": [target | {"threshold": 0.5 if target["threshold"] != 0.5 else 0.6}]}
    for change, said in (({}, ""), (other, "changed since"), ({"dataset": "elsewhere"}, "not know")):
        load(at, json.dumps(document | change).encode())
        found = texts(at)
        assert ("changed since it was released" in found) is (said == "changed since")
        assert ("does not know this release" in found) is (said == "not know")
        assert ("Use this calibration" in labels(at)) is (said != "changed since")
