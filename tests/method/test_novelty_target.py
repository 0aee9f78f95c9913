"""Thresholds and τ̂ together: one release, one charge, and by enumeration a privacy loss of at most ε."""

import dataclasses
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ppsets_core import InputError, Records, calibrate, plan, smallest_epsilon
from ppsets_core.data.counts import count_records
from ppsets_core.method.bins import Runs
from ppsets_core.method.plan import Plan
from ppsets_core.method.release import _drawn as fields_of_a_release
from ppsets_core.method.rules.mechanism import Mechanism, run_probabilities
from tests.method.rules.enumeration import data_sets

USUAL = {"novelty_share": 0.2}


def exactly(number: float) -> Fraction:
    return Fraction(Decimal(repr(number)))


def records_of(n: int, seed: int = 0, **facts) -> Records:
    rng = np.random.default_rng(seed)
    scores = rng.random(n)
    return Records("made up", scores, novelty=rng.random(n), **facts)


# Planning


def test_tau_gets_its_share_and_the_thresholds_the_rest():
    """And so what is proved of either alone: coverage of the thresholds, and at most 5% above τ̂."""
    joint, alone, apart = plan(1000, 0.1, 1.0, **USUAL), plan(1000, 0.1, 0.8), plan(1000, 0.05, 0.2)
    assert (joint.epsilon, joint.threshold_epsilon, joint.novelty.epsilon) == (1.0, 0.8, 0.2)
    assert (joint.mechanism, joint.m, joint.coverage_lower) == (alone.mechanism, alone.m, alone.coverage_lower)
    assert (joint.novelty.mechanism(1000, 1000), joint.novelty.m) == (apart.mechanism, apart.m)
    joint = plan(900, 0.1, 1.0, per="diagnosis", classes=3, **USUAL)
    alone = plan(900, 0.1, 0.8, per="diagnosis", classes=3)
    assert (joint.m, joint.mechanism_for(300)) == (alone.m, alone.mechanism_for(300))


@pytest.mark.parametrize("chosen", [{"method": "paper"}, {"method": "sharp"}, {"per": "diagnosis", "classes": 3}])
def test_with_too_few_records_for_tau_the_thresholds_get_all(chosen):
    joint = plan(100, 0.1, 5.0 if "method" in chosen else 1.0, **chosen, novelty_share=0.01)
    alone = plan(100, 0.1, joint.epsilon, **chosen)
    assert joint.novelty.is_trivial
    assert joint.novelty.epsilon == 0
    assert dataclasses.replace(joint, targets=joint.score_targets) == alone


def test_where_records_are_too_few_for_both_the_sets_come_first():
    """At 0.01 the thresholds need most of ε; τ̂ would need little."""
    n, alpha = 1000, 0.01
    epsilon = smallest_epsilon(n, alpha)
    joint = plan(n, alpha, epsilon, **USUAL)
    assert plan(n, alpha, 0.8 * epsilon).is_trivial
    assert not plan(n, 0.05, 0.2 * epsilon).is_trivial
    assert not joint.is_trivial
    assert joint.novelty.is_trivial


@settings(max_examples=60, deadline=None)
@given(st.floats(0.05, 50), st.floats(0.001, 0.9))
def test_the_parts_never_add_up_to_more_than_epsilon(epsilon, share):
    chosen = plan(2000, 0.2, epsilon, m=50, novelty_share=share, novelty_alpha=0.2, novelty_m=50)
    spent = exactly(chosen.threshold_epsilon) + exactly(chosen.novelty.epsilon)
    assert spent <= exactly(epsilon)
    assert spent >= exactly(epsilon) * (1 - Fraction(1, 10**14))


# Privacy, enumerated


Law = tuple[np.ndarray, np.ndarray, float]


def law(mechanism: Mechanism, runs: Runs, n: int) -> Law:
    """The log-probability of every bin, the integers that go to OpenDP, and their scale."""
    integers, scale = mechanism.exact_scores(runs, n)
    probability = run_probabilities(mechanism, runs, n) / runs.bins
    return np.log(np.repeat(probability, runs.bins)), np.repeat(integers, runs.bins), scale


def laws(cells: np.ndarray, chosen: Plan, classes: int) -> list[Law]:
    """The law of every draw of a release of the data set with so many records in each (class, score, novelty)."""
    m, beside = chosen.m, chosen.novelty
    label, score, familiar = (
        np.repeat(place, cells) for place in np.unravel_index(np.arange(len(cells)), (classes, m, beside.m))
    )
    names = tuple(f"class {number}" for number in range(classes)) if chosen.per else ()
    scores = (score + 0.5) / m
    records = Records("", scores, names, labels=label if names else None, novelty=(familiar + 0.5) / beside.m)
    drawn: list[Law] = []

    def draw(mechanism: Mechanism, runs: Runs, n: int) -> int:
        drawn.append(law(mechanism, runs, n))
        return 1

    fields_of_a_release(count_records(records, chosen), draw)
    return drawn


def losses(chosen: Plan, classes: int = 1) -> tuple[float, Fraction]:
    """The largest loss of all that is released, over all data sets and all replacements of one record: of the law, and
    as the integers that go to OpenDP bound it in exact arithmetic. Draws are apart, so their losses add up."""
    cells = data_sets(chosen.n, classes * chosen.m * chosen.novelty.m)
    kept: dict = {}

    def laws_of(cell: tuple[int, ...]) -> list:
        if cell not in kept:
            kept[cell] = laws(np.array(cell), chosen, classes)
        return kept[cell]

    worst, exact = 0.0, Fraction(0)
    for row in map(tuple, cells.tolist()):
        for a in np.flatnonzero(row):
            for b in range(len(row)):
                if a == b:
                    continue
                moved = tuple(c - (j == a) + (j == b) for j, c in enumerate(row))
                loss, bound = 0.0, Fraction(0)
                for (one, integers, scale), (other, after, _) in zip(laws_of(row), laws_of(moved), strict=True):
                    loss += float((one - other).max())
                    change = after - integers
                    bound += Fraction(int(change.max() - change.min())) / Fraction(scale)
                worst, exact = max(worst, loss), max(exact, bound)
    return worst, exact


def joint_plan(n: int, m: int, of_novelty: int, epsilon: float, share: float, classes: int | None = None) -> Plan:
    per = {} if classes is None else {"per": "diagnosis", "classes": classes}
    chosen = plan(n, 0.5, epsilon, m=m, **per, novelty_share=share, novelty_alpha=0.5, novelty_m=of_novelty)
    assert not chosen.novelty.is_trivial
    return chosen


@pytest.mark.parametrize(
    ("n", "m", "of_novelty", "share"), [(2, 3, 3, 0.5), (3, 3, 2, 0.3), (4, 2, 3, 0.6), (5, 2, 2, 0.4)]
)
@pytest.mark.parametrize("epsilon", [8.0, 12.3])
def test_loss_of_threshold_and_tau_together_is_at_most_epsilon(n, m, of_novelty, share, epsilon):
    loss, exact = losses(joint_plan(n, m, of_novelty, epsilon, share))
    assert loss <= epsilon * (1 + 1e-12)
    assert loss <= exact <= exactly(epsilon)
    assert loss >= 0.5 * epsilon


LARGER = pytest.param(3, 2, 2, 3, marks=pytest.mark.statistical)


@pytest.mark.parametrize(("n", "m", "of_novelty", "classes"), [(2, 2, 3, 2), (3, 2, 2, 2), LARGER])
@pytest.mark.parametrize("epsilon", [8.0, 12.3])
def test_loss_per_diagnosis_with_tau_is_at_most_epsilon(n, m, of_novelty, classes, epsilon):
    loss, exact = losses(joint_plan(n, m, of_novelty, epsilon, 0.5, classes), classes)
    assert loss <= epsilon * (1 + 1e-12)
    assert loss <= exact <= exactly(epsilon)


def test_every_threshold_and_tau_are_drawn_once():
    assert len(laws(np.eye(12, dtype=int)[:2].sum(axis=0), joint_plan(2, 2, 3, 8.0, 0.5, 2), 2)) == 3


def test_the_audit_would_notice_thresholds_drawn_with_all_of_epsilon():
    chosen = joint_plan(3, 3, 2, 8.0, 0.5)
    greedy = [dataclasses.replace(target, epsilon=7.9) for target in chosen.targets]
    assert losses(dataclasses.replace(chosen, targets=tuple(greedy), epsilon=15.8))[0] > 8 * 1.2


# Releasing


def test_a_release_follows_its_plan_tau_the_novelty_and_the_threshold_the_scores():
    """Without a share there is no τ̂, so that a calibration follows the plan of its arguments."""
    rng = np.random.default_rng(0)
    records = Records("", 0.2 * rng.random(1000), novelty=0.5 + 0.1 * rng.random(1000))
    found = calibrate(records, 0.1, 5.0, **USUAL)
    assert found.threshold < 0.25
    assert 0.5 < found.novelty_threshold < 0.65
    assert (found.plan, found.epsilon_spent) == (plan(1000, 0.1, 5.0, **USUAL), 5.0)
    alone = calibrate(records, 0.1, 5.0)
    assert (alone.plan, alone.novelty_threshold) == (plan(1000, 0.1, 5.0), None)


def test_a_plan_with_tau_needs_the_column():
    bare = dataclasses.replace(records_of(1000), novelty=None)
    with pytest.raises(InputError, match="novelty"):
        calibrate(bare, 0.1, 1.0, **USUAL)
