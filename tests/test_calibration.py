"""Calibrations: what they hold, and JSON that can only be read back as what it was."""

import dataclasses
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ppsets_core import Calibration, InputError, calibrate, nonprivate_threshold, plan, release_distribution

SCORES = np.random.default_rng(1).random(1000)


@pytest.mark.parametrize("method", ["paper", "sharp"])
def test_a_release_is_an_edge_with_the_plans_numbers(method):
    calibration = calibrate(SCORES, 0.1, 1.0, method=method)
    assert calibration.plan == plan(1000, 0.1, 1.0, method=method)
    assert not calibration.simulated
    assert calibration.epsilon_spent == 1.0
    assert calibration.threshold * calibration.m == pytest.approx(round(calibration.threshold * calibration.m))
    assert calibration.cutoff == 1 - calibration.threshold


def test_a_trivial_calibration_spends_nothing_and_is_the_same_for_all_data():
    for scores in (SCORES[:50], np.zeros(50), np.ones(50)):
        calibration = calibrate(scores, 0.1, 0.1)
        assert calibration.is_trivial
        assert (calibration.threshold, calibration.epsilon_spent) == (1.0, 0.0)


@given(
    n=st.integers(1, 400),
    alpha=st.sampled_from([0.05, 0.1, 0.5]),
    epsilon=st.floats(0.01, 50),
    method=st.sampled_from(["paper", "sharp"]),
    simulated=st.booleans(),
)
@settings(max_examples=40, deadline=None)
def test_json_round_trip(n, alpha, epsilon, method, simulated):
    rng = np.random.default_rng(n) if simulated else None
    calibration = calibrate(SCORES[:n], alpha, epsilon, method=method, m=97, rng=rng)
    assert Calibration.from_json(calibration.to_json()) == calibration


def test_a_simulation_is_never_read_as_a_release():
    text = calibrate(SCORES, 0.1, 1.0, rng=np.random.default_rng(0)).to_json()
    assert json.loads(text)["kind"] == "simulation"
    back = Calibration.from_json(text)
    assert back.simulated
    assert back.epsilon_spent == 0
    document = json.loads(text)
    del document["kind"]
    with pytest.raises(InputError, match="'kind' is missing"):
        Calibration.from_json(json.dumps(document))


def test_what_it_protects_and_which_model_it_is_for_are_kept():
    drawn = calibrate(SCORES, 0.1, 1.0)
    assert (drawn.unit, drawn.model, drawn.is_for("ab" * 8)) == ("record", None, None)
    bound = calibrate(SCORES, 0.1, 1.0, unit="patient", model="ab" * 8)
    back = Calibration.from_json(bound.to_json())
    assert (back.unit, back.model) == ("patient", "ab" * 8)
    assert (back.is_for("ab" * 8), back.is_for("cd" * 8), back.is_for(None)) == (True, False, None)


def test_version_1_is_refused_with_the_reason():
    old = {name: value for name, value in VALID.items() if name not in ("unit", "model")}
    with pytest.raises(InputError, match="version 1, which does not say which model it is for"):
        Calibration.from_json(json.dumps(old | {"version": 1}))


VALID = json.loads(calibrate(SCORES, 0.1, 1.0).to_json())
CHANGES = {
    "another format": {"format": "x"},
    "another version": {"version": 3},
    "unknown unit": {"unit": "hospital"},
    "unit missing": {"unit": None},
    "unit a list": {"unit": ["patient"]},
    "model no fingerprint": {"model": "=cmd|x"},
    "model a number": {"model": 1234567890123456},
    "model on two lines": {"model": "0123456789abcdef\n"},
    "version true": {"version": True},
    "unknown kind": {"kind": "draft"},
    "threshold above 1": {"threshold": 1.5},
    "threshold zero": {"threshold": 0},
    "threshold off the grid": {"threshold": 0.123456},
    "threshold text": {"threshold": "0.5"},
    "threshold true": {"threshold": True},
    "n negative": {"n": -5},
    "n fractional": {"n": 1000.5},
    "alpha too large": {"alpha": 0.7},
    "epsilon zero": {"epsilon": 0},
    "another method": {"method": "magic"},
    "method a list": {"method": ["paper"]},
    "m of one": {"m": 1},
    "m missing": {"m": None},
    "gamma missing": {"gamma": None},
    "gamma of one": {"gamma": 1},
    "level that does not follow": {"level": 0.5},
    "rank where there is none": {"rank": 900},
    "lower bound that does not follow": {"coverage_lower": 0.99},
    "an unknown field": {"note": "hello"},
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_changed_fields_are_refused(change):
    with pytest.raises(InputError, match="This calibration cannot be used"):
        Calibration.from_json(json.dumps(VALID | change))


@pytest.mark.parametrize("name", VALID)
def test_each_field_must_be_there(name):
    with pytest.raises(InputError, match="cannot be used"):
        Calibration.from_json(json.dumps({k: v for k, v in VALID.items() if k != name}))


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity", "1e999"])
@pytest.mark.parametrize("name", ["threshold", "alpha", "epsilon", "gamma", "level", "coverage_upper"])
def test_numbers_that_are_not_finite_are_refused(name, value):
    text = json.dumps(VALID | {name: "HERE"}).replace('"HERE"', value)
    with pytest.raises(InputError, match="cannot be used"):
        Calibration.from_json(text)


@pytest.mark.parametrize(
    "text", ["", "[]", "null", "{", "[" * 100_000, '{"format": 1, "format": 2}', " " * 20_000, b"{}", None]
)
def test_other_texts_are_refused(text):
    with pytest.raises(InputError, match="cannot be used"):
        Calibration.from_json(text)


@given(st.text())
def test_any_text_is_read_or_refused(text):
    with pytest.raises(InputError):
        Calibration.from_json(text)


def test_a_calibration_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Calibration.from_json(json.dumps(VALID)).threshold = 0.1


def test_nonprivate_threshold_is_the_conformal_order_statistic():
    scores = np.arange(1, 11) / 10
    assert nonprivate_threshold(scores, 0.1) == 1.0  # ⌈0.9 · 11⌉ = 10
    assert nonprivate_threshold(scores, 0.5) == 0.6  # ⌈0.5 · 11⌉ = 6
    assert nonprivate_threshold(np.arange(1, 10) / 10, 0.3) == 0.7  # exactly 0.7 · 10 = 7, not 8
    assert nonprivate_threshold(scores[:5], 0.1) == 1.0  # too few records


@pytest.mark.parametrize(
    ("scores", "what"),
    [
        ([], "empty"),
        ([0.1, math.nan], "scores, row 2: the value is missing or not a finite number"),
        ([0.1, 0.2, math.inf], "row 3"),
        ([0.1, 1.1], "row 2: the score is outside"),
        ([-0.1], "row 1: the score is outside"),
        ([["0.1"]], "expected numbers only"),
        ([[0.1]], "2 dimensions"),
        ([0.1, [0.2]], "not all of one length"),
        ([0.1 + 0j], "expected numbers only"),
    ],
)
@pytest.mark.parametrize("use", [lambda s: calibrate(s, 0.1, 1.0), lambda s: nonprivate_threshold(s, 0.1)])
def test_bad_scores_are_refused_with_their_place_and_without_their_value(use, scores, what):
    with pytest.raises(InputError, match=what) as refusal:
        use(scores)
    assert "1.1" not in str(refusal.value)


def test_a_generator_is_not_a_seed():
    with pytest.raises(InputError, match=r"numpy\.random\.Generator"):
        calibrate(SCORES, 0.1, 1.0, rng=42)


def test_a_plan_for_another_number_of_records_is_refused():
    with pytest.raises(InputError, match="plan is for 10 records but there are 1000"):
        release_distribution(SCORES, plan(10, 0.1, 1.0))
