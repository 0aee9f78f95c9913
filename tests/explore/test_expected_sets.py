"""Expected set sizes: the same as random splits give, with an honest margin; and the map made of them."""

import numpy as np
import pytest

from ppsets_core import Setting, plan, random_splits
from ppsets_core.explore.expected_sets import expected_sets, nonprivate_sets
from ppsets_core.explore.labelled import simulated_records
from ppsets_core.explore.tradeoff_map import tradeoff_map
from ppsets_core.method.plan import DIAGNOSIS
from ppsets_core.method.rules import RULES

RECORDS = simulated_records(3000, 3, 1.5, np.random.default_rng(3))
N = 300


@pytest.mark.parametrize(("method", "per"), [*((rule, None) for rule in RULES), ("sharp", DIAGNOSIS)])
def test_it_agrees_with_random_splits(method, per):
    classes = 3 if per else None
    found = expected_sets(RECORDS, plan(N, 0.1, 2.0, method=method, per=per, classes=classes), np.random.default_rng(0))
    (split,) = random_splits(
        *(RECORDS.probabilities, RECORDS.labels, N, [Setting(0.1, 2.0, method, per=per)], 400),
        np.random.default_rng(1),
    )
    for ours, exact, theirs in (
        (found, "private", split.private),
        (
            nonprivate_sets(RECORDS, N, 0.1, np.random.default_rng(0), each=per is not None),
            "non-private",
            split.nonprivate,
        ),
    ):
        error = 4 * theirs.mean_size.std() / np.sqrt(400) + 2 * ours.margin
        assert ours.mean_size == pytest.approx(theirs.mean_size.mean(), abs=error), exact
        assert ours.coverage == pytest.approx(theirs.coverage.mean(), abs=0.01), exact
        assert ours.coverage_by_class == pytest.approx(np.nanmean(theirs.coverage_by_class, axis=0), abs=0.02), exact


def test_the_margin_is_that_of_repeated_runs():
    chosen = plan(N, 0.1, 1.0)
    runs = [expected_sets(RECORDS, chosen, np.random.default_rng(seed), 50) for seed in range(40)]
    spread = np.std([run.mean_size for run in runs], ddof=1)
    assert np.mean([run.margin for run in runs]) == pytest.approx(1.96 * spread, rel=0.5)


def test_sizes_grow_with_privacy_up_to_every_class():
    sizes = [
        expected_sets(RECORDS, plan(N, 0.1, epsilon), np.random.default_rng(0)).mean_size
        for epsilon in (20.0, 1.0, 0.1, 1e-6)
    ]
    assert sizes == sorted(sizes)
    assert sizes[-1] == 3


def test_a_diagnosis_without_records_is_planned_for_too():
    few = simulated_records(200, 4, 2.0, np.random.default_rng(5))
    kept = few.labels != 3
    records = type(few)(few.probabilities[kept], few.labels[kept])
    found = expected_sets(records, plan(100, 0.1, 1.0, per=DIAGNOSIS, classes=4), np.random.default_rng(0), 20)
    assert 1 < found.mean_size <= 4


def test_the_map_leaves_out_where_nothing_can_be_promised():
    heard = []
    found = tradeoff_map(
        *(RECORDS, 50, "paper"), alphas=(0.1, 0.5), epsilons=(0.1, 20.0), progress=lambda *told: heard.append(told)
    )
    assert np.isnan(found.sizes).tolist() == [[True, False], [True, False]]
    assert found.sizes[1, 1] < found.sizes[0, 1]
    assert heard == [(1, 4), (2, 4), (3, 4), (4, 4)]
    each = tradeoff_map(RECORDS, 50, "sharp", per=DIAGNOSIS, alphas=(0.1,), epsilons=(0.1, 20.0))
    assert np.isfinite(each.sizes).all()
