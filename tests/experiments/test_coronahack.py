import json

import numpy as np
import pytest

from ppsets_core.experiments import coronahack
from ppsets_core.method.rules import RULES


@pytest.fixture(scope="module")
def sweep():
    return coronahack.run(splits=150)


def test_median_coverage_at_the_papers_epsilon(sweep):
    for result in sweep.at(10.0).values():
        assert 0.895 <= np.median(result.private.coverage) <= 0.912


def test_sharp_sets_are_smaller_at_every_other_epsilon(sweep):
    for epsilon in (0.1, 0.2, 0.5, 1.0, 3.0):
        at = sweep.at(epsilon)
        sharp, paper = (at[rule].private.mean_size.mean() for rule in ("sharp", "paper"))
        assert at["paper"].nonprivate.mean_size.mean() - 0.002 < sharp < paper
        assert at["sharp"].private.coverage.mean() >= 0.9 - 0.004


def test_most_sets_at_the_papers_epsilon_hold_one_or_two(sweep):
    counts = sweep.at(10.0)["paper"].private.size_counts.sum(axis=0)
    assert counts[1:3].sum() > 0.95 * counts.sum()


def test_every_number_is_in_the_json(sweep):
    found = coronahack.findings(sweep)
    document = json.loads(found.as_json("the command"))
    assert document["command"] == "the command"
    assert document["numbers"]["values"] == list(sweep.values)
    for rule, place in ((rule, place) for rule in RULES for place in range(len(sweep.values))):
        result, kept = sweep.results[rule][place], document["numbers"][rule][place]
        assert kept["coverage"] == pytest.approx(result.private.coverage)
        assert kept["mean_size"] == pytest.approx(result.private.mean_size, rel=1e-5)
        assert kept["plan"]["rank"] == result.plan.rank
        assert sum(kept["sets_by_size"].values()) == 150 * 500
    assert document["found"][1].startswith("With the sharp rule sets are smaller on average than with the paper's rule")
    assert "in 5 of the 5 rows" in document["found"][1]
    assert document["tables"][0]["columns"][1:4] == [
        "coverage, sharp rule",
        "coverage, paper's rule",
        "coverage, without privacy",
    ]


def test_figures(sweep):
    drawn = coronahack.figures(sweep)
    assert len(drawn) == 4
    assert {"sharp rule", "paper's rule", "without privacy"} <= {t.name for t in drawn["Coverage against ε"].data}


def test_the_same_seed_gives_the_same_numbers():
    first, again, other = (coronahack.findings(coronahack.run(seed=seed, splits=3)) for seed in (1, 1, 2))
    assert first.as_json("") == again.as_json("") != other.as_json("")
