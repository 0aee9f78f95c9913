"""Exact binomial intervals, held against SciPy's own and against what they promise."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ppsets_core import InputError
from ppsets_core.method.check import beta_quantile, binomial_at_least, clopper_pearson


@pytest.mark.parametrize("trials", [1, 2, 10, 50, 500, 10_000, 1_000_000])
@pytest.mark.parametrize("share", [0, 0.003, 0.5, 0.9, 1])
def test_the_interval_is_the_exact_one(trials, share):
    successes = round(share * trials)
    expected = stats.binomtest(successes, trials).proportion_ci(0.95, "exact")
    assert clopper_pearson(successes, trials) == pytest.approx((expected.low, expected.high), abs=1e-10)


@given(st.integers(1, 10**5), st.integers(1, 10**5), st.floats(1e-6, 1 - 1e-6))
def test_the_quantile_is_the_inverse_of_the_distribution(a, b, probability):
    assert stats.beta.cdf(beta_quantile(probability, a, b), a, b) == pytest.approx(probability, rel=1e-7)


@given(st.integers(1, 3000), st.floats(0.001, 0.999), st.floats(0, 1.2))
def test_the_upper_tail_is_the_binomials(trials, share, part):
    successes = round(part * trials)
    assert binomial_at_least(successes, trials, share) == pytest.approx(
        stats.binom.sf(successes - 1, trials, share), rel=1e-7, abs=1e-13
    )


@pytest.mark.parametrize("share", [0.01, 0.5, 0.9, 0.99])
@pytest.mark.parametrize("trials", [1, 5, 50, pytest.param(1000, marks=pytest.mark.statistical)])
def test_the_interval_holds_the_truth_at_least_as_often_as_it_says(trials, share):
    """Summed over every possible count: no draw, no luck."""
    held = sum(
        stats.binom.pmf(successes, trials, share)
        for successes in range(trials + 1)
        if clopper_pearson(successes, trials)[0] <= share <= clopper_pearson(successes, trials)[1]
    )
    assert held >= 0.95


def test_what_cannot_be_is_refused():
    for successes, trials in ((3, 2), (-1, 5)):
        with pytest.raises(InputError, match="There cannot be"):
            clopper_pearson(successes, trials)
    assert clopper_pearson(0, 0) == (0.0, 1.0)
    with pytest.raises(InputError):
        beta_quantile(0.5, 0, 1)
