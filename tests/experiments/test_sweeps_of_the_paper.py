"""`levels`, `bins` and `epsilons`, reduced: their findings and figures."""

import numpy as np
import pytest

from ppsets_core.experiments import bins, epsilons, levels
from ppsets_core.experiments.findings import Source
from ppsets_core.explore.labelled import TOP_1, TOP_5, simulated_imagenet, simulated_records
from ppsets_core.method.plan import smallest_n
from ppsets_core.method.rules import RULES


@pytest.fixture(scope="module")
def large():
    """As many calibration records as in the paper's figure, with fewer classes."""
    return Source("simulated", simulated_records(45_000, 5, 2.0, np.random.default_rng(0)), 30_000, splits=20)


def test_coverage_is_flat_over_three_orders_of_magnitude_of_m(large):
    (found,) = bins.run(of=[large], bins=(1000, 10_000, 100_000, 1_000_000))
    assert set(bins.best_m(found.n).values()) <= set(found.sweep.values)
    for rule in RULES:
        low, high = bins.coverage_range(found.sweep, rule, 1000, 1_000_000)
        assert high - low < 0.001
        assert 0.897 < low < high < 0.905
    (sentence,) = bins.findings((found,)).sentences
    assert all(f"with the {rule.label} (m* = " in sentence for rule in RULES.values())
    drawn = bins.figures((found,))
    assert list(drawn) == ["simulated: coverage", "simulated: mean set size"]
    stars = [trace.x[0] for trace in drawn["simulated: coverage"].data if trace.marker.symbol == "star"]
    assert stars == list(bins.best_m(found.n).values())


def test_coverage_falls_towards_what_is_asked_for_as_epsilon_grows(large):
    (found,) = epsilons.run(of=[large], epsilons=(0.05, 0.5, 5.0))
    for results in found.sweep.results.values():
        means = [r.private.coverage.mean() for r in results]
        assert means == sorted(means, reverse=True)
        assert means[0] > means[-1] + 0.002
        assert means[-1] - results[-1].nonprivate.coverage.mean() < 0.001
    told = epsilons.findings((found,))
    assert told.sentences[0].count("with the ") == len(RULES)
    assert list(epsilons.figures((found,))) == ["simulated: coverage", "simulated: mean set size"]
    table = told.tables[0]
    assert [row[0] for row in table.rows] == [0.05, 0.5, 5.0]


def test_simulated_imagenet_is_as_accurate_as_resnet_152_and_calibrated():
    records = simulated_imagenet(6000, np.random.default_rng(0))
    assert records.top_accuracy() == pytest.approx(TOP_1, abs=0.015)
    assert records.top_accuracy(5) == pytest.approx(TOP_5, abs=0.01)
    assert records.probabilities.max(axis=1).mean() == pytest.approx(records.top_accuracy(), abs=0.015)


def test_sharp_aims_lower_than_the_papers_rule_everywhere():
    result = levels.run(ns=(100, 1000, 31_623), epsilons=(0.1, 1.0, 10.0))
    found = levels.findings(result)
    assert found.sentences[0].startswith("The sharp rule aims below the paper's rule at every n")
    assert found.numbers["least_n"][1.0] == {rule: smallest_n(0.1, 1.0, rule) for rule in RULES}
    assert found.tables[1].rows == tuple((e, *by_rule.values()) for e, by_rule in found.numbers["least_n"].items())
    assert len(levels.figures(result)) == 2
    assert [row[0] for row in found.tables[0].rows][::3] == [100, 1000, 31_623]
