"""The library cannot be held wrong: whatever it is given, a release stays in [0, 1] and is drawn from counts alone."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ppsets_core as pp
from ppsets_core.method.rules.mechanism import run_probabilities

EPSILON, BINS = 2.0, 4
KINDS = [(row, label) for row in ([0.8, 0.2], [0.2, 0.8], [0.5, 0.5]) for label in ("ill", "well")]


@pytest.fixture
def laws(monkeypatch):
    """What every release is drawn from: the law of each of its thresholds, bin by bin, instead of a draw."""
    found = []

    def draw(mechanism, runs, n):
        law = run_probabilities(mechanism, runs, n)
        found.append(np.repeat(law / runs.bins, runs.bins))
        return 1

    monkeypatch.setattr("ppsets_core.method.release.draw_release", draw)
    return found


@pytest.mark.parametrize("score", ["lac", "aps", "raps"])
@pytest.mark.parametrize(("method", "per"), [("paper", None), ("sharp", None), ("sharp", "diagnosis")])
def test_over_all_data_sets_and_neighbours_the_loss_is_at_most_epsilon(laws, score, method, per):
    """Through `records` and `calibrate`: 5 records of 6 kinds, and each of them replaced by any other."""
    alpha = 0.5
    known = {}
    for kinds in itertools.combinations_with_replacement(range(len(KINDS)), 5):
        rows, labels = zip(*(KINDS[kind] for kind in kinds), strict=True)
        found = pp.records(rows, labels, classes=["ill", "well"], score=score)
        laws.clear()
        pp.calibrate(found, alpha, EPSILON * (4 if method == "paper" else 1), m=BINS, per=per, method=method)
        known[kinds] = np.log(laws)
    assert {law.shape for law in known.values()} == {(1 if per is None else 2, BINS)}
    worst = 0.0
    for kinds, law in known.items():
        for place, other in itertools.product(range(5), range(len(KINDS))):
            neighbour = tuple(sorted([*kinds[:place], *kinds[place + 1 :], other]))
            worst = max(worst, (known[neighbour] - law).max(axis=1).sum())
    limit = EPSILON * (4 if method == "paper" else 1)
    assert 0.2 * limit < worst <= limit * (1 + 1e-12)


NUMBER = st.one_of(
    st.floats(0, 1),
    st.floats(),
    st.sampled_from([7.0, -0.1, None, "0.5", True, 1 + 1e-9, 10**400, np.float16(0.5), 0j, [0.5], float("nan")]),
)
NAMES = ["a", "b", "A", "", None, 0, 1, 2, 1.0, -1, True, float("nan"), "north"]
NAME = st.one_of(st.sampled_from(NAMES), st.text(max_size=3))
ROW = st.lists(NUMBER, min_size=0, max_size=4) | st.sampled_from([[0.25, 0.75], [1.0, 0.0], [0.5, 0.5]])
USUAL = st.floats(0, 1)


@st.composite
def arguments(draw):
    """What somebody may hand to `records`: often almost right."""
    size = draw(st.integers(0, 12))
    given = {}
    many = {"min_size": size, "max_size": size}
    usual = draw(st.booleans())
    if draw(st.booleans()):
        given["scores"] = draw(st.lists(USUAL if usual else NUMBER, **many))
    else:
        given["probabilities"] = draw(st.lists(st.just([0.25, 0.75]) if usual else ROW, **many))
    if draw(st.booleans()):
        given["labels"] = draw(st.lists(st.sampled_from(["a", "b"]) if usual else NAME, **many))
    if draw(st.booleans()):
        given["classes"] = ["a", "b"] if usual else draw(st.lists(NAME, max_size=3))
    if draw(st.booleans()):
        given["patients"] = draw(st.lists(NAME, **many))
    if draw(st.booleans()):
        given["groups"] = {"site": draw(st.lists(NAME, **many))}
    if draw(st.booleans()):
        given["model"] = draw(NAME)
    given["score"] = draw(st.sampled_from(["lac", "aps", "raps", "own", "residual", "residual:bound=2", "x", None]))
    return given


CHOICES = st.fixed_dictionaries(
    {
        "alpha": st.sampled_from([0.5, 0.1, 0, 1, None]),
        "epsilon": st.sampled_from([20.0, 1.0, 0, -1, float("inf"), None]),
        "m": st.sampled_from([2, 5, None, 1, 2.5]),
        "per": st.sampled_from([None, "diagnosis", "site", "age"]),
        "groups": st.sampled_from([None, ["a", "north"], ["a", "a"]]),
    }
)
quickly = settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])


def assert_is_sound(drawn: pp.Calibration) -> None:
    assert all(0 < threshold <= 1 for threshold in drawn.drawn)
    assert pp.Calibration.from_json(drawn.to_json()) == drawn


@quickly
@given(arguments(), CHOICES, st.booleans())
def test_whatever_is_given_a_release_is_sound_or_refused_in_a_sentence(given, chosen, bare):
    try:
        if "scores" in given and bare:
            assert_is_sound(pp.calibrate(given["scores"], **chosen))
        found = pp.one_per_patient(pp.records(**given))
        drawn = pp.calibrate(found, **chosen)
    except pp.InputError:
        return
    assert_is_sound(drawn)
    assert drawn.unit == ("record" if given.get("patients") is None else "patient")


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), per=st.sampled_from([None, "diagnosis", "site"]), score=st.sampled_from(["lac", "aps", "raps"]))
def test_the_law_depends_on_the_counts_alone(laws, data, per, score):
    """Other records with as many in each bin of each class and group, in another order, are drawn from the same law."""
    seed = data.draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    n, m = 60, 10
    rows = rng.dirichlet([1, 1, 1], n)
    labels, sites = rng.integers(0, 3, n), rng.choice(["north", "south"], n)
    names = ["north", "south"] if per == "site" else None
    scores = pp.conformity_scores(rows, labels, score)
    bins = np.clip(np.ceil(scores * m), 1, m)
    moved = (bins - rng.uniform(0.01, 0.99, n)) / m
    order = rng.permutation(n)
    told = {"labels": labels[order], "classes": ["0", "1", "2"], "groups": {"site": sites[order]}, "score": score}
    for found in (
        pp.records(rows, labels, groups={"site": sites}, score=score, patients=np.arange(n)),
        pp.records(scores=moved[order], model="other", **told),
    ):
        pp.calibrate(found, 0.3, 5.0, m=m, per=per, groups=names)
    half = len(laws) // 2
    assert half == {None: 1, "diagnosis": 3, "site": 2}[per]
    assert np.array_equal(laws[:half], laws[half:])
    laws.clear()


def test_a_plan_changed_by_hand_spends_no_more_than_it_says():
    chosen = pp.plan(500, 0.1, 1.0, novelty_share=0.2)
    more = tuple(replace(target, epsilon=5.0) for target in chosen.targets)
    for change in ({"epsilon": 0.1}, {"targets": more}, {"targets": chosen.targets * 2}, {"targets": ()}):
        with pytest.raises(pp.InputError, match="spend more than its epsilon"):
            replace(chosen, **change)
    each = pp.plan(500, 0.1, 1.0, per="site", groups=["a", "b"])
    with pytest.raises(pp.InputError, match="spend more than its epsilon"):
        replace(each, targets=each.targets * 2)
