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


@given(st.integers(1, 3000), st.floats(0.001, 0.999), st.floats(0, 1.2))
def test_the_upper_tail_is_the_binomials(trials, share, part):
    successes = round(part * trials)
    assert binomial_at_least(successes, trials, share) == pytest.approx(
        stats.binom.sf(successes - 1, trials, share), rel=1e-7, abs=1e-13
    )


def test_what_cannot_be_is_refused():
    for successes, trials in ((3, 2), (-1, 5)):
        with pytest.raises(InputError, match="There cannot be"):
            clopper_pearson(successes, trials)
    assert clopper_pearson(0, 0) == (0.0, 1.0)
    with pytest.raises(InputError):
        beta_quantile(0.5, 0, 1)
