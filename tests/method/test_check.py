"""The check: numbers of `evaluate`, exact intervals, and a verdict that says what the numbers allow."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from ppsets_core import Ledger, Records, conformity_scores, evaluate, plan, simulate
from ppsets_core.data.bundled import bundled_scores
from ppsets_core.data.counts import Selection
from ppsets_core.data.source import open_source
from ppsets_core.diagnose.set_table import sets_of
from ppsets_core.method.check import FAILS, HOLDS, UNCLEAR, Promise, binomial_at_least, check_counts, clopper_pearson

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


def labelled(probabilities, labels, names=None, **groups) -> Records:
    scores = conformity_scores(probabilities, labels)
    return Records("s", scores, CLASSES, probabilities, labels, patients=names, groups=groups)


@pytest.mark.parametrize("trials", [1, 2, 10, 50, 500, 10_000, 1_000_000])
@pytest.mark.parametrize("share", [0, 0.003, 0.5, 0.9, 1])
def test_the_interval_is_the_exact_one(trials, share):
    successes = round(share * trials)
    expected = stats.binomtest(successes, trials).proportion_ci(0.95, "exact")
    assert clopper_pearson(successes, trials) == pytest.approx((expected.low, expected.high), abs=1e-10)
    tail = stats.binom.sf(successes - 1, trials, 0.4)
    assert binomial_at_least(successes, trials, 0.4) == pytest.approx(tail, rel=1e-7, abs=1e-13)
    assert (clopper_pearson(0, 0), binomial_at_least(trials + 1, trials, 0.4)) == ((0.0, 1.0), 0.0)


@pytest.mark.parametrize("per", [None, "diagnosis"])
def test_held_out_coronahack_gives_the_numbers_of_evaluate(per):
    calibrated, held_out = bundled_scores("calibration"), bundled_scores("validation")
    classes = calibrated.classes if per else None
    chosen = plan(len(calibrated), 0.1, 1.0, per=per, classes=classes)
    calibration = simulate(calibrated, chosen, np.random.default_rng(1))
    expected = evaluate(held_out.probabilities, held_out.labels, calibration, patients=held_out.patients)
    found = check_counts(held_out.coverage(calibration))
    assert found.overall.records == held_out.patient_count < len(held_out)
    assert found.overall.coverage == expected.coverage
    assert found.overall.interval == expected.interval
    assert [line.coverage for line in found.by_diagnosis] == expected.coverage_by_class.tolist()
    assert [line.interval for line in found.by_diagnosis] == [
        clopper_pearson(line.covered, line.records) for line in found.by_diagnosis
    ]
    assert [line.records for line in found.by_size] == expected.size_counts.tolist()
    np.testing.assert_array_equal([line.coverage for line in found.by_size], expected.coverage_by_size)
    assert (found.single.records, found.single.name) == (expected.size_counts[1], "1")
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
    found = check_counts(labelled(probabilities, labels).coverage(calibration))
    assert (found.overall.covered, found.overall.records) == (covered, covered + missed)
    assert (found.verdict, found.overall.verdict) == (verdict, verdict)
    assert words in found.words
    assert "90% promised" in found.words


def test_one_calibration_may_fall_short_by_chance_and_that_is_no_broken_promise():
    few = drawn(n=60)
    probabilities, labels = patients(8_500, 1_500, few.threshold)
    found = check_counts(labelled(probabilities, labels).coverage(few))
    assert found.verdict == UNCLEAR
    assert "may fall short by chance" in found.words


def test_a_promise_for_each_diagnosis_is_broken_by_one():
    calibration = drawn(3000, per="diagnosis")
    parts = [patients(700, 60, threshold, label) for label, threshold in enumerate(calibration.thresholds)]
    parts[2] = patients(100, 100, calibration.thresholds[2], 2)
    probabilities, labels = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    found = check_counts(labelled(probabilities, labels).coverage(calibration))
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
    found = check_counts(labelled(probabilities, labels, site=np.array(groups)).coverage(calibration))
    assert [(line.name, line.verdict) for line in found.by_group] == [("north", HOLDS), ("south", FAILS)]


def test_many_promises_are_judged_more_strictly_than_each_interval_is_drawn():
    calibration = drawn(3000, per="diagnosis")
    promise = Promise(calibration)
    line = promise.line("a", 830, 1000, promised=True)
    assert line.interval == clopper_pearson(830, 1000)
    assert promise.confidence == pytest.approx(1 - 0.05 / 3)
    assert Promise(drawn()).confidence == 0.95


def test_every_check_counts_one_record_of_each_patient(tmp_path):
    """20 patients of 8 alike records: the interval is that of 20, however it is asked for."""
    calibration, names = drawn(), np.repeat([f"p{i}" for i in range(20)], 8)
    probabilities, labels = patients(144, 16, calibration.threshold)
    records = labelled(probabilities, labels, names)
    frame = pd.DataFrame(probabilities, columns=CLASSES).assign(label=labels, patient=names)
    frame.to_parquet(tmp_path / "new.parquet", row_group_size=50)
    opened = open_source(tmp_path / "new.parquet", classes=CLASSES, labels="optional")
    ledger = Ledger(tmp_path / "l.sqlite")
    private = ledger.check(records, calibration, ledger.account_for(records, "ward", budget=50), 50.0)
    assert (private.n, private.covered, private.unit) == (20, (18,), "patient")
    assert evaluate(frame[list(CLASSES)], labels, calibration, patients=names).interval == clopper_pearson(18, 20)
    checks = [check_counts(found.coverage(calibration)) for found in (records, Selection(**opened.facts()))]
    for found in (*checks, sets_of(records, calibration).check):
        assert (found.overall.interval, found.verdict) == (clopper_pearson(18, 20), UNCLEAR)
        assert "One record of each of 20 patients is checked, of 160 records." in found.words


@pytest.mark.statistical
def test_the_interval_holds_the_truth_with_eight_records_a_patient():
    """Records of one patient resemble each other; as independent ones their intervals would miss far too often."""
    rng, rounds, calibration = np.random.default_rng(4), 1000, drawn()
    (inside,), (outside,) = (patients(*number, calibration.threshold)[0] for number in ((1, 0), (0, 1)))
    names, labels, held = np.repeat([f"p{i}" for i in range(150)], 8), np.zeros(1200, dtype=np.int64), np.zeros(3)
    for _ in range(rounds):
        covered = rng.random(1200) < np.repeat(rng.beta(0.9, 0.1, 150), 8)
        probabilities = np.where(covered[:, None], inside, outside)
        one_each, all_records = (
            check_counts(labelled(probabilities, labels, who).coverage(calibration)) for who in (names, None)
        )
        (low, high), (lowest, highest) = one_each.overall.interval, all_records.overall.interval
        held += low <= 0.9 <= high, lowest <= 0.9 <= highest, one_each.verdict == FAILS
    assert held[0] / rounds >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / rounds)
    assert held[1] / rounds < 0.8
    assert held[2] / rounds <= 0.025 + 3 * np.sqrt(0.025 * 0.975 / rounds)


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
