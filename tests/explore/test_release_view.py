import numpy as np
import pytest

from ppsets_core import nonprivate_threshold, plan, release_distribution
from ppsets_core.explore.release_view import release_view
from ppsets_core.method.rules import RULES

SCORES = np.random.default_rng(0).beta(1, 3, 500)


@pytest.mark.parametrize("m", [50, 1000, 1_000_000])
@pytest.mark.parametrize("method", RULES)
def test_steps_sum_up_the_exact_law(m, method):
    chosen = plan(500, 0.1, 2.0, method=method, m=m)
    view = release_view(SCORES, chosen)
    assert len(view.probability) <= 121
    assert view.probability.sum() == pytest.approx(1, abs=3e-4)
    assert view.nonprivate == nonprivate_threshold(SCORES, 0.1)
    assert view.edges[0] < view.nonprivate <= view.edges[-1]
    law = release_distribution(SCORES, chosen)
    middle = len(view.edges) // 2
    whole_runs = law.probability[law.upper <= view.edges[middle]].sum()
    assert view.probability[:middle].sum() <= whole_runs + law.probability.max() + 1e-9


def test_one_bin_per_step_is_the_law_itself():
    chosen = plan(500, 0.1, 2.0, m=60)
    view = release_view(SCORES, chosen, steps=60)
    assert view.bins_per_step == 1
    law = release_distribution(SCORES, chosen)
    by_edge = {}
    for upper, bins, probability in zip(law.upper, law.bins, law.probability, strict=True):
        for back in range(int(bins)):
            by_edge[round(upper * 60) - back] = probability / bins
    for edge, probability in zip(view.edges[1:], view.probability, strict=True):
        assert probability == pytest.approx(by_edge[round(edge * 60)])


def test_a_trivial_plan_is_certain_to_give_one():
    view = release_view(SCORES, plan(500, 0.1, 1e-6))
    assert view.edges[-1] == 1
    assert view.probability[-1] == 1
