"""The novelty threshold, and the alarm over a batch: its words, its rate and its false alarms."""

import dataclasses

import numpy as np
import pytest
from scipy.stats import beta, binom

from ppsets_core import Records, calibrate, plan, simulate
from ppsets_core.data.bundled import bundled_scores
from ppsets_core.diagnose.novelty import (
    CALIBRATE,
    CALIBRATIONS,
    DELTA,
    OTHER_WEIGHTS,
    TRAINED_ON,
    UNKNOWN,
    Alarm,
    NoveltyThreshold,
    largest_rate,
    novelty_thresholds,
)
from ppsets_core.model.novelty import statistics_of
from ppsets_core.model_fingerprint import bundled_fingerprint

OTHER = "ab" * 8


def drawn(n: int, model: str | None = None, seed: int = 0):
    rng = np.random.default_rng(seed)
    scores = rng.random(n)
    records = Records("", scores, model=model, novelty=rng.random(n))
    return simulate(records, plan(n, 0.1, 1.0, novelty_share=0.2), rng)


def test_a_calibrations_own_threshold_joins_the_public_one():
    calibration = drawn(1000, bundled_fingerprint())
    public, own = novelty_thresholds(calibration, bundled_fingerprint())
    assert (public.compared_with, own.compared_with) == (TRAINED_ON, CALIBRATIONS)
    assert (own.value, own.alpha) == (calibration.novelty_threshold, 0.05)
    assert own.unlike(np.array([own.value, own.value + 2e-6])).tolist() == [False, True]
    assert Alarm((0, 0), 0, (public, own)).words == UNKNOWN


@pytest.mark.parametrize(
    "calibration",
    [
        calibrate(np.linspace(0, 1, 500), 0.1, 1.0),
        drawn(100),
        dataclasses.replace(drawn(1000), drawn=(0.9, 1.0)),
    ],
    ids=["none asked for", "too few records", "came out above every X-ray"],
)
def test_the_public_threshold_applies_whatever_the_calibration(calibration):
    (found,) = novelty_thresholds(calibration, bundled_fingerprint())
    public = bundled_scores("calibration").novelty
    assert np.mean(public <= found.value) == pytest.approx(0.971)
    assert found.rate == pytest.approx(beta.ppf(1 - DELTA, 30, 971), abs=1e-9)
    assert np.mean(bundled_scores("validation").novelty > found.value) <= 0.05, "X-rays that it was not learnt from"


def test_with_other_weights_nothing_can_be_known():
    assert statistics_of(OTHER) is None
    assert novelty_thresholds(drawn(1000, bundled_fingerprint()), OTHER) == ()
    assert Alarm((), 0, (), model=OTHER).words == OTHER_WEIGHTS


def test_the_largest_rate_is_the_beta_quantile_of_the_rank_less_what_the_draw_may_miss():
    planned = plan(1000, 0.1, 1.0, novelty_share=0.2).novelty
    per_rank = planned.epsilon / 1.5
    missing = next(t for t in range(1000) if (planned.m - 1) * np.exp(-per_rank * (t + 1)) <= DELTA)
    k = planned.rank - missing
    assert largest_rate(planned, 1000) == pytest.approx(beta.ppf(1 - DELTA, 1001 - k, k), abs=1e-9)
    few = plan(200, 0.1, 1.0, novelty_share=0.2).novelty
    assert 0.3 < largest_rate(few, 200) <= 1


PRIVATE = NoveltyThreshold(0.9, CALIBRATIONS, 0.05, 0.16)
PUBLIC = NoveltyThreshold(0.8, TRAINED_ON, 0.03, 0.05)


def test_the_alarm_in_words():
    assert Alarm((31,), 40, (PRIVATE,)).words == (
        "31 of 40 X-rays are unlike your calibration's; about 2 expected. "
        "The promised coverage cannot be relied on here. Calibrate with X-rays like these."
    )
    assert Alarm((1,), 20, (PRIVATE,)).words == "1 of 20 X-rays is unlike your calibration's; about 1 expected."
    assert Alarm((0,), 1, (PRIVATE,)).words == "0 of 1 X-ray is unlike your calibration's; fewer than 1 expected."
    both = Alarm((39, 40), 40, (PUBLIC, PRIVATE), flagged=3)
    assert "39 of 40 X-rays, without 3 flagged, are unlike the X-rays that this model was trained on" in both.words
    assert CALIBRATE not in both.words, "it would not help: the model was not built for them"
    assert Alarm((0,), 0, (PUBLIC,), flagged=3).words == "All are flagged, so none was compared."


def test_the_alarm_is_on_where_the_binomial_says_that_chance_does_not_explain_it():
    for of in (1, 5, 40, 400):
        for count in range(of + 1):
            assert Alarm((count,), of, (PRIVATE,)).is_on == (binom.sf(count - 1, of, 0.16) < DELTA)
    assert not Alarm((400,), 400, (dataclasses.replace(PRIVATE, rate=1.0),)).is_on


@pytest.mark.statistical
@pytest.mark.parametrize(("n", "epsilon"), [(300, 1.0), (1000, 1.0), (1000, 3.0)])
def test_false_alarms_are_at_most_one_in_a_thousand(n, epsilon):
    """Exact in the batch (binomial), drawn in the calibration: 2,000 calibrations, the largest threshold missed."""
    rng = np.random.default_rng(n)
    chosen = plan(n, 0.1, epsilon, novelty_share=0.2)
    rate = largest_rate(chosen.novelty, n)
    false = {batch: 0.0 for batch in (10, 40, 400)}
    for _ in range(2000):
        scores = rng.random(n)
        above = 1 - simulate(Records("", scores, novelty=rng.random(n)), chosen, rng).novelty_threshold
        for batch in false:
            least = int(binom.isf(DELTA, batch, rate)) + 1
            false[batch] += binom.sf(least - 1, batch, above) / 2000
    assert max(false.values()) <= 0.001
