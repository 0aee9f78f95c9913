import numpy as np
import pytest

from ppsets_core import InputError
from ppsets_core.explore import NONPRIVATE
from ppsets_core.explore.labelled import simulated_records
from ppsets_core.explore.sweeps import histogram, outcomes_of, size_shares, sweep, trends
from ppsets_core.method.rules import RULES

RECORDS = simulated_records(900, 3, 1.5, np.random.default_rng(1))


def rng():
    return np.random.default_rng(2)


def test_sweep_over_epsilon_shares_its_splits():
    swept = sweep(RECORDS, "epsilon", [0.01, 1.0, 5.0], 20, rng(), alpha=0.1, n=600)
    assert swept.over == "epsilon"
    assert [r.plan.epsilon for r in swept.results["paper"]] == [0.01, 1.0, 5.0]
    assert [r.plan.method for r in swept.results["sharp"]] == ["sharp"] * 3
    first, *others = [r.nonprivate.threshold for results in swept.results.values() for r in results]
    assert all(np.array_equal(first, other) for other in others)
    assert swept.at(1.0)["sharp"].plan.epsilon == 1.0


def test_sweep_over_m_and_n():
    by_m = sweep(RECORDS, "m", [20, 500], 5, rng(), alpha=0.1, n=600, methods=["sharp"])
    assert [r.plan.m for r in by_m.results["sharp"]] == [20, 500]
    by_n = sweep(RECORDS, "n", [200, 400, 600], 5, rng(), alpha=0.1)
    assert [r.plan.n for r in by_n.results["paper"]] == [200, 400, 600]
    assert by_n.results["paper"][0].private.size_counts.sum() == 5 * 700


def test_progress_counts_the_whole_and_can_cancel():
    seen = []
    sweep(RECORDS, "n", [100, 200], 3, rng(), alpha=0.1, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(i, 6) for i in range(1, 7)]

    class Stop(Exception):
        pass

    def stop(done, total):
        raise Stop

    with pytest.raises(Stop):
        sweep(RECORDS, "epsilon", [1.0], 5, rng(), alpha=0.1, n=600, progress=stop)


def test_nothing_to_try_is_an_error():
    with pytest.raises(InputError, match="no epsilon"):
        sweep(RECORDS, "epsilon", [], 5, rng(), alpha=0.1, n=600)


def test_trends_mark_trivial_points():
    swept = sweep(RECORDS, "epsilon", [0.01, 5.0], 40, rng(), alpha=0.1, n=600)
    sizes = trends(swept, "mean_size")
    assert sizes["paper"].trivial.tolist() == [True, False]
    assert sizes["paper"].mean[0] == 3
    assert sizes["nonprivate"].mean[1] < sizes["paper"].mean[1] < 3
    private = swept.results["paper"][1].private
    coverage = trends(swept, "coverage")["paper"]
    assert coverage.mean[1] == private.coverage.mean()
    assert coverage.low[1] == np.percentile(private.coverage, 5) < coverage.high[1]


def test_histograms_hold_every_split_and_every_set():
    results = sweep(RECORDS, "epsilon", [2.0], 30, rng(), alpha=0.1, n=600).at(2.0)
    counted = histogram(outcomes_of(results), "coverage", bins=10)
    assert set(counted.share) == {*RULES, NONPRIVATE}
    assert all(share.sum() == pytest.approx(1) for share in counted.share.values())
    shares = size_shares(results)
    sizes = results["paper"].private.size_counts
    assert shares["paper"] == pytest.approx(sizes.sum(axis=0) / sizes.sum())


def test_a_histogram_of_equal_values_has_one_bin():
    results = sweep(RECORDS, "epsilon", [1e-6], 3, rng(), alpha=0.1, n=600, methods=["paper"]).at(1e-6)
    results["paper"].nonprivate.coverage[:] = 1.0
    assert histogram(outcomes_of(results), "coverage").share["paper"].tolist() == [1.0]


def test_simulated_probabilities_are_calibrated():
    records = simulated_records(40_000, 3, 1.5, np.random.default_rng(0))
    chosen = records.probabilities.argmax(axis=1)
    sure = records.probabilities.max(axis=1)
    right = chosen == records.labels
    for low in (0.4, 0.6, 0.8):
        here = (sure > low) & (sure <= low + 0.1)
        assert abs(right[here].mean() - sure[here].mean()) < 0.02


def test_simulated_records_refuse_nonsense():
    for count, classes, signal in [(0, 3, 1), (10, 1, 1), (10, 3, -1)]:
        with pytest.raises(InputError):
            simulated_records(count, classes, signal, rng())
