"""Which threshold tells the unlike ones, and the alarm over a batch: its words, its rate and its false alarms."""

import dataclasses
import math

import numpy as np
import pytest
from scipy.stats import beta, binom

from ppsets_core import Records, calibrate, plan, simulate
from ppsets_core.data.bundled import bundled_scores
from ppsets_core.method.plan import NoveltyTarget
from ppsets_core.model.novelty import statistics_of
from ppsets_core.model_fingerprint import bundled_fingerprint
from ppsets_core.novelty import Alarm, Watch, alarm_over, watch_for
from ppsets_core.novelty.watch import (
    BY_REFERENCE,
    DELTA,
    IMPOSSIBLE,
    NOTHING_ABOVE,
    OTHER_WEIGHTS,
    REFERENCE,
    UNKNOWN,
    largest_rate,
)

OTHER = "ab" * 8


def drawn(n: int, model: str | None = None, seed: int = 0):
    rng = np.random.default_rng(seed)
    scores = rng.random(n)
    records = Records("", scores, scores, model=model, novelty=rng.random(n))
    return simulate(records, plan(n, 0.1, 1.0, novelty=NoveltyTarget()), rng)


def test_a_calibrations_own_threshold_is_used():
    calibration = drawn(1000, bundled_fingerprint())
    watch = watch_for(calibration, bundled_fingerprint())
    assert (watch.threshold, watch.alpha, watch.words) == (calibration.novelty_threshold, 0.05, "")
    assert watch.is_familiar(watch.threshold) is True
    assert watch.is_familiar(math.nextafter(watch.threshold, 2)) is False
    assert watch.is_familiar(None) is None


def test_too_few_records_say_no_alarm_possible_and_not_familiar():
    watch = watch_for(drawn(100), bundled_fingerprint())
    assert watch.words == IMPOSSIBLE
    assert watch.is_familiar(0.0) is None
    alarm = alarm_over([None] * 5, watch)
    assert (alarm.of, alarm.is_on, alarm.words) == (0, False, IMPOSSIBLE)


def test_a_threshold_that_came_out_above_every_xray_says_no_alarm_possible_too():
    watch = watch_for(dataclasses.replace(drawn(1000), novelty_threshold=1.0), bundled_fingerprint())
    assert (watch.threshold, watch.words) == (None, NOTHING_ABOVE)
    assert watch.is_familiar(0.0) is None


def test_where_nothing_says_how_familiar_xrays_are_that_is_said():
    for watch in (watch_for(drawn(1000), bundled_fingerprint()), watch_for(0.9, bundled_fingerprint())):
        assert watch.threshold is not None
        assert alarm_over([None] * 5, watch).words == UNKNOWN


@pytest.mark.parametrize("calibration", [0.9, calibrate(np.linspace(0, 1, 500), 0.1, 1.0)], ids=["bare", "no column"])
def test_without_a_threshold_the_public_reference_is_used_and_said(calibration):
    watch = watch_for(calibration, bundled_fingerprint())
    public = bundled_scores("calibration").novelty
    assert (watch.like, watch.words) == (REFERENCE, BY_REFERENCE)
    assert np.mean(public <= watch.threshold) == pytest.approx(0.951)
    assert watch.rate == pytest.approx(beta.ppf(1 - DELTA, 50, 951), abs=1e-9)
    assert watch.mark(False) == "Unlike the public reference's"
    assert alarm_over([True], watch).words.endswith(f"to be expected. {BY_REFERENCE}")


def test_with_other_weights_nothing_can_be_told():
    assert statistics_of(OTHER) is None
    assert watch_for(0.9, OTHER).words == OTHER_WEIGHTS
    assert watch_for(drawn(1000, bundled_fingerprint()), OTHER).threshold is None


def test_the_largest_rate_is_the_beta_quantile_of_the_rank_less_what_the_draw_may_miss():
    planned = plan(1000, 0.1, 1.0, novelty=NoveltyTarget()).novelty
    per_rank = planned.epsilon / 1.5
    missing = next(t for t in range(1000) if (planned.m - 1) * np.exp(-per_rank * (t + 1)) <= DELTA)
    k = planned.rank - missing
    assert largest_rate(planned, 1000) == pytest.approx(beta.ppf(1 - DELTA, 1001 - k, k), abs=1e-9)
    few = plan(200, 0.1, 1.0, novelty=NoveltyTarget()).novelty
    assert 0.3 < largest_rate(few, 200) <= 1


def test_the_alarm_in_words():
    watch = Watch(0.9, alpha=0.05, rate=0.16)
    assert Alarm(31, 40, watch).words == (
        "31 of 40 X-rays are unlike those of the calibration; about 2 were to be expected. "
        "The promised coverage cannot be relied on here. Calibrate with X-rays like these."
    )
    assert Alarm(1, 20, watch).words == "1 of 20 X-rays is unlike those of the calibration; about 1 was to be expected."
    assert Alarm(0, 1, watch).words == "0 of 1 X-ray is unlike those of the calibration; hardly any was to be expected."


def test_the_alarm_is_on_where_the_binomial_says_that_chance_does_not_explain_it():
    watch = Watch(0.9, alpha=0.05, rate=0.16)
    for of in (1, 5, 40, 400):
        for unlike in range(of + 1):
            assert Alarm(unlike, of, watch).is_on == (binom.sf(unlike - 1, of, 0.16) < DELTA)
    assert not Alarm(400, 400, dataclasses.replace(watch, rate=1.0)).is_on


def test_an_alarm_counts_only_what_can_be_told():
    alarm = alarm_over([True, False, None, False], Watch(0.9, alpha=0.05, rate=0.16))
    assert (alarm.unlike, alarm.of) == (2, 3)


@pytest.mark.statistical
@pytest.mark.parametrize(("n", "epsilon"), [(300, 1.0), (1000, 1.0), (1000, 3.0)])
def test_false_alarms_are_at_most_one_in_a_thousand(n, epsilon):
    """Exact in the batch (binomial), drawn in the calibration: 2,000 calibrations, the largest threshold missed."""
    rng = np.random.default_rng(n)
    chosen = plan(n, 0.1, epsilon, novelty=NoveltyTarget())
    rate = largest_rate(chosen.novelty, n)
    false = {batch: 0.0 for batch in (10, 40, 400)}
    for _ in range(2000):
        scores = rng.random(n)
        above = 1 - simulate(Records("", scores, scores, novelty=rng.random(n)), chosen, rng).novelty_threshold
        for batch in false:
            least = int(binom.isf(DELTA, batch, rate)) + 1
            false[batch] += binom.sf(least - 1, batch, above) / 2000
    assert max(false.values()) <= 0.001
