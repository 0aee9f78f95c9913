"""Plans: reference values, remedies, and the choice of m."""

import json
import math
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ppsets_core import InputError, plan, smallest_epsilon, smallest_n
from ppsets_core.method.plan import best_m
from ppsets_core.method.rules import RULES, rule_named
from ppsets_core.method.rules.mechanism import expected_output
from ppsets_core.method.rules.paper import best_gamma, paper_level
from ppsets_core.validation import LEAST_EPSILON

REFERENCE = json.loads((Path(__file__).parents[1] / "reference" / "method.json").read_text())
NEAR = pytest.approx


@pytest.mark.parametrize("row", REFERENCE["paper_level"])
def test_paper_level_and_gamma(row):
    p = plan(row["n"], row["alpha"], row["epsilon"], m=row["m"], method="paper")
    assert p.gamma == NEAR(row["gamma"], rel=1e-9)
    assert p.level == NEAR(row["level"], rel=1e-9)
    assert p.is_trivial == (row["level"] >= 1)
    assert p.rank is None
    assert p.coverage_lower == (1 if p.is_trivial else NEAR(1 - row["alpha"], rel=1e-12))


@given(n=st.integers(1, 10**6), alpha=st.floats(0.001, 0.5), epsilon=st.floats(0.01, 100))
def test_where_there_are_records_enough_no_other_gamma_gives_a_lower_level(n, alpha, epsilon):
    best = best_gamma(n, alpha, epsilon)
    least = paper_level(n, alpha, epsilon, 100, best)
    for gamma in (best * 0.99, min(best * 1.01, 0.999), 1e-12, 0.001, 0.1, 0.5, 0.999):
        assert least >= 1 or least <= paper_level(n, alpha, epsilon, 100, gamma) * (1 + 1e-12)


def test_trivial_plan_says_so_and_keeps_its_level():
    p = plan(50, 0.2, 0.1, m=100, method="paper")
    assert p.is_trivial
    assert p.level > 14
    assert (p.coverage_lower, p.coverage_expected) == (1, 1)
    with pytest.raises(InputError, match="trivial"):
        _ = p.mechanism


def test_least_records_at_epsilon_1_alpha_01():
    assert smallest_n(0.1, 1.0, "paper", m=100) == 213
    assert smallest_n(0.1, 1.0, "sharp", m=10) == 22
    for method in RULES:
        chosen = smallest_n(0.1, 1.0, method)
        assert chosen == min(smallest_n(0.1, 1.0, method, m=m) for m in rule_named(method).grid[:5])
        assert chosen >= smallest_n(0.1, 1.0, method, m=2)


CASES = {
    "alpha": st.sampled_from([0.01, 0.05, 0.1, 0.2, 0.3, 0.5]),
    "method": st.sampled_from([*RULES]),
}


BINS = st.sampled_from([None, 2, 3, 10, 500])


@given(epsilon=st.floats(0.01, 100), m=BINS, **CASES)
@settings(max_examples=60, deadline=None)
def test_smallest_n_is_where_plans_stop_being_trivial(alpha, epsilon, method, m):
    n = smallest_n(alpha, epsilon, method, m=m)
    assert not plan(n, alpha, epsilon, method=method, m=m).is_trivial
    assert n == 1 or plan(n - 1, alpha, epsilon, method=method, m=m).is_trivial
    assert not plan(3 * n + 1, alpha, epsilon, method=method, m=m).is_trivial


@given(n=st.integers(150, 100_000), m=BINS, **CASES)
@example(n=9, m=2, alpha=0.1, method="sharp")
@example(n=8, m=2, alpha=0.1, method="sharp")
@example(n=40, m=50, alpha=0.3, method="sharp")
@settings(max_examples=20, deadline=None)
def test_smallest_epsilon_is_the_least(n, alpha, method, m):
    epsilon = smallest_epsilon(n, alpha, method, m=m)
    assert not plan(n, alpha, epsilon, method=method, m=m).is_trivial
    below = 0.99 * epsilon if epsilon < 1e-6 else math.nextafter(epsilon, 0)
    assert epsilon == LEAST_EPSILON or plan(n, alpha, max(below, LEAST_EPSILON), method=method, m=m).is_trivial


def test_smallest_epsilon_of_too_few_records_says_how_many_are_needed():
    for n, m in ((5, None), (3, 2), (8, 10)):
        with pytest.raises(InputError, match="whatever epsilon is; at least 9 are needed"):
            smallest_epsilon(n, 0.1, "sharp", m=m)


@pytest.mark.statistical
@given(n=st.integers(10, 20_000), epsilon=st.floats(0.05, 50), **CASES)
@settings(max_examples=12, deadline=None)
def test_chosen_m_is_the_best_of_the_whole_grid(n, epsilon, alpha, method):
    outputs = {}
    for m in rule_named(method).grid:
        p = plan(n, alpha, epsilon, method=method, m=m)
        outputs[m] = 1.0 if p.is_trivial else expected_output(p.mechanism, n, m)
    assert best_m(n, alpha, epsilon, method) == min(outputs, key=lambda m: (outputs[m], m))


def test_the_papers_chosen_m_is_about_a_fifteenth_of_n_epsilon():
    for n, epsilon in [(1000, 1.0), (1000, 10.0), (10_000, 1.0), (100_000, 0.1)]:
        assert n * epsilon / 25 < plan(n, 0.1, epsilon, method="paper").m <= n * epsilon / 10


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ({"n": 0}, "n must be at least 1"),
        ({"n": 10.0}, "n must be a whole number"),
        ({"n": True}, "n must be a whole number"),
        ({"alpha": 0}, "alpha must be above 0"),
        ({"alpha": 0.51}, "at most 0.5"),
        ({"alpha": math.nan}, "alpha must be a number"),
        ({"alpha": "0.1"}, "alpha must be a number"),
        ({"epsilon": 0}, "epsilon must be a positive, finite"),
        ({"epsilon": -1}, "epsilon must be a positive, finite"),
        ({"epsilon": math.inf}, "epsilon must be a positive, finite"),
        ({"epsilon": 1e-300}, "epsilon must lie between"),
        ({"m": 1}, "m must be between 2"),
        ({"m": 2.5}, "m must be a whole number"),
        ({"gamma": 0, "method": "paper"}, "gamma must be at least 1e-12 and below 1"),
        ({"gamma": 1, "method": "paper"}, "gamma must be at least 1e-12 and below 1"),
        ({"gamma": 0.5}, "gamma belongs to the paper's rule"),
        ({"method": "other"}, "method must be one of sharp, paper"),
        ({"method": ["paper"]}, "method must be one of"),
        ({"per": "diagnosis", "method": "paper"}, "needs classes"),
        ({"per": "diagnosis", "classes": 3, "method": "paper"}, "holds for all patients together only"),
        ({"per": "site"}, "needs the names of the groups"),
        ({"classes": 3}, "say so with per"),
        *(({"novelty_share": share}, "share of epsilon") for share in (-0.1, 0.95, math.nan, "a fifth")),
    ],
)
def test_refusals_say_what_is_wrong(arguments, what):
    arguments = {"n": 1000, "alpha": 0.1, "epsilon": 1.0} | arguments
    with pytest.raises(InputError, match=what):
        plan(arguments.pop("n"), arguments.pop("alpha"), arguments.pop("epsilon"), **arguments)
