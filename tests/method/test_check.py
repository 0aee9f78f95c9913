"""The check: numbers of `evaluate`, exact intervals, and a verdict that says what the numbers allow."""

import numpy as np
import pytest

from ppsets_core import Records, conformity_scores, evaluate, plan, simulate
from ppsets_core.data.bundled import bundled_scores
from ppsets_core.data.counts import check_records
from ppsets_core.method.check import FAILS, HOLDS, UNCLEAR, Promise
from ppsets_core.method.intervals import clopper_pearson

CLASSES = ("a", "b", "c")


def drawn(n=1000, per=None, seed=0):
    rng = np.random.default_rng(seed)
    scores = rng.beta(1, 3, n)
    records = Records("s", scores, CLASSES, labels=rng.integers(0, 3, n))
    classes = CLASSES if per else None
    return simulate(records, plan(n, 0.1, 5.0, per=per, classes=classes), rng)


def patients(covered: int, missed: int, threshold: float, label: int = 0):
    """Rows whose own class is just inside the set, and rows whose own class is just outside."""
    inside, outside = np.full(3, threshold / 2), np.full(3, (1 - 0.5 * (1 - threshold)) / 2)
    inside[label], outside[label] = 1 - threshold, 0.5 * (1 - threshold)
    return np.vstack([np.tile(inside, (covered, 1)), np.tile(outside, (missed, 1))]), np.full(covered + missed, label)


def labelled(probabilities, labels, **groups) -> Records:
    scores = conformity_scores(probabilities, labels)
    return Records("s", scores, CLASSES, probabilities, labels, groups=groups)


@pytest.mark.parametrize("per", [None, "diagnosis"])
def test_held_out_coronahack_gives_the_numbers_of_evaluate(per):
    calibrated, held_out = bundled_scores("calibration"), bundled_scores("validation")
    classes = calibrated.classes if per else None
    chosen = plan(len(calibrated), 0.1, 1.0, per=per, classes=classes)
    calibration = simulate(calibrated, chosen, np.random.default_rng(1))
    expected = evaluate(held_out.probabilities, held_out.labels, calibration)
    found = check_records(held_out, calibration)
    assert found.overall.coverage == expected.coverage
    assert found.overall.interval == expected.interval
    assert [line.coverage for line in found.by_diagnosis] == expected.coverage_by_class.tolist()
    assert [line.interval for line in found.by_diagnosis] == expected.interval_by_class
    assert [line.records for line in found.by_size] == expected.size_counts.tolist()
    np.testing.assert_array_equal([line.coverage for line in found.by_size], expected.coverage_by_size)
    assert (found.single.records, found.single.name) == (expected.size_counts[1], "1")
    assert len(found.missed) == expected.records - expected.covered
    assert found.verdict != FAILS
    assert bool(found.overall.verdict) is (per is None)
    assert all(bool(line.verdict) is (per is not None) for line in found.by_diagnosis)


@pytest.mark.parametrize(
    ("covered", "missed", "verdict", "words"),
    [
        (905, 95, HOLDS, "The promise holds here: the true diagnosis is in 905 of 1,000 sets, 90.5%"),
        (18, 2, UNCLEAR, "too few to tell"),
        (800, 200, FAILS, "does not hold here: the true diagnosis is in 800 of 1,000 sets"),
        (0, 30, FAILS, "Calibrate with patients like these"),
    ],
)
def test_a_plain_verdict(covered, missed, verdict, words):
    calibration = drawn()
    probabilities, labels = patients(covered, missed, calibration.threshold)
    found = check_records(labelled(probabilities, labels), calibration)
    assert (found.overall.covered, found.overall.records) == (covered, covered + missed)
    assert (found.verdict, found.overall.verdict) == (verdict, verdict)
    assert words in found.words
    assert "90% promised" in found.words


def test_one_calibration_may_fall_short_by_chance_and_that_is_no_broken_promise():
    few = drawn(n=60)
    probabilities, labels = patients(8_500, 1_500, few.threshold)
    found = check_records(labelled(probabilities, labels), few)
    assert found.verdict == UNCLEAR
    assert "may fall short by chance" in found.words


def test_a_promise_for_each_diagnosis_is_broken_by_one():
    calibration = drawn(3000, per="diagnosis")
    parts = [patients(700, 60, threshold, label) for label, threshold in enumerate(calibration.thresholds)]
    parts[2] = patients(100, 100, calibration.thresholds[2], 2)
    probabilities, labels = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    found = check_records(labelled(probabilities, labels), calibration)
    assert [line.verdict for line in found.by_diagnosis] == [HOLDS, HOLDS, FAILS]
    assert found.verdict == FAILS
    assert "for c, the true diagnosis is in 100 of 200 sets" in found.words
    assert "within each diagnosis" in found.words


def test_a_promise_for_each_group_is_judged_by_group():
    rng = np.random.default_rng(0)
    scores, sites = rng.beta(1, 3, 2000), np.array(["north", "south"] * 1000)
    chosen = plan(2000, 0.1, 5.0, per="site", groups=["north", "south"])
    calibration = simulate(Records("s", scores, CLASSES, groups={"site": sites}), chosen, rng)
    parts = [patients(950, 50, calibration.thresholds[0]), patients(500, 500, calibration.thresholds[1])]
    probabilities, labels = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    groups = np.repeat(["north", "south"], 1000)
    found = check_records(labelled(probabilities, labels, site=np.array(groups)), calibration)
    assert [(line.name, line.verdict) for line in found.by_group] == [("north", HOLDS), ("south", FAILS)]


def test_many_promises_are_judged_more_strictly_than_each_interval_is_drawn():
    calibration = drawn(3000, per="diagnosis")
    promise = Promise(calibration)
    line = promise.line("a", 830, 1000, promised=True)
    assert line.interval == clopper_pearson(830, 1000)
    assert promise.confidence == pytest.approx(1 - 0.05 / 3)
    assert Promise(drawn()).confidence == 0.95


@pytest.mark.statistical
def test_a_promise_that_is_kept_is_seldom_found_broken():
    """Calibrate anew, check anew: the share of false alarms stays within what is allowed."""
    rng, alarms, rounds = np.random.default_rng(5), 0, 400
    chosen = plan(500, 0.1, 2.0)
    promise = Promise(simulate(rng.random(500), chosen, rng))
    for _ in range(rounds):
        threshold = simulate(rng.random(500), chosen, rng).threshold
        covered = rng.binomial(2000, threshold)  # uniform scores: P(S ≤ ŝ) = ŝ
        alarms += promise.judge(clopper_pearson(int(covered), 2000)) == FAILS
    assert alarms / rounds <= 0.05
