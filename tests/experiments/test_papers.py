"""The paper's experiments, reduced: levels, bins, epsilons, coronahack, two-by-two and three-xrays."""

import json
from pathlib import Path

import numpy as np
import pytest

from ppsets_core import FileError, Simulation
from ppsets_core.data.bundled import bundled_scores
from ppsets_core.experiments import (
    audit,
    bins,
    coronahack,
    epsilons,
    levels,
    peers,
    per_diagnosis,
    three_xrays,
    two_by_two,
)
from ppsets_core.experiments.findings import Source, standard_error
from ppsets_core.explore.labelled import Labelled, simulated_records
from ppsets_core.explore.style import BLUE
from ppsets_core.method.plan import smallest_n
from ppsets_core.method.rules import RULES
from tests.drawn_xrays import write_folder
from tests.explore.third_rule import ThirdRule


@pytest.fixture(scope="module")
def large():
    """As many calibration records as in the paper's figure, with fewer classes."""
    return Source("simulated", simulated_records(45_000, 5, 2.0, np.random.default_rng(0)), 30_000, splits=20)


@pytest.fixture(scope="module")
def sweep():
    return coronahack.run(splits=150)


@pytest.fixture(scope="module")
def four():
    return two_by_two.run(splits=150)


def test_coverage_is_flat_over_three_orders_of_magnitude_of_m(large):
    found = bins.run(of=[large], bins=(1000, 10_000, 100_000, 1_000_000))
    swept, best = found[0][1], list(bins.best_m(large.n).values())
    assert set(best) <= set(swept.values)
    for rule in RULES:
        low, high = bins.coverage_range(swept, rule, 1000, 1_000_000)
        assert high - low < 0.001
        assert 0.897 < low < high < 0.905
    (sentence,) = bins.findings(found).sentences
    assert all(f"with the {rule.label} (m* = " in sentence for rule in RULES.values())
    drawn = bins.figures(found)
    assert list(drawn) == ["simulated: coverage", "simulated: mean set size"]
    stars = [trace.x[0] for trace in drawn["simulated: coverage"].data if trace.marker.symbol == "star"]
    assert stars == best


def test_coverage_falls_towards_what_is_asked_for_as_epsilon_grows(large):
    found = epsilons.run(of=[large], epsilons=(0.05, 0.5, 5.0))
    for results in found[0][1].results.values():
        means = [r.private.coverage.mean() for r in results]
        assert means == sorted(means, reverse=True)
        assert means[0] > means[-1] + 0.002
        assert means[-1] - results[-1].nonprivate.coverage.mean() < 0.001
    told = epsilons.findings(found)
    assert told.sentences[0].count("with the ") == len(RULES)
    assert list(epsilons.figures(found)) == ["simulated: coverage", "simulated: mean set size"]
    assert [row[0] for row in told.tables[0].rows] == [0.05, 0.5, 5.0]


def test_sharp_aims_lower_than_the_papers_rule_everywhere():
    result = levels.run(ns=(100, 1000, 31_623), epsilons=(0.1, 1.0, 10.0))
    found = levels.findings(result)
    assert found.sentences[0].startswith("The sharp rule aims below the paper's rule at every n")
    assert found.numbers["least_n"][1.0] == {rule: smallest_n(0.1, 1.0, rule) for rule in RULES}
    assert len(levels.figures(result)) == 2
    assert [row[0] for row in found.tables[0].rows][::3] == [100, 1000, 31_623]


def test_coronahack_at_the_papers_epsilon(sweep):
    for result in sweep.at(10.0).values():
        assert 0.895 <= np.median(result.private.coverage) <= 0.912
    counts = sweep.at(10.0)["paper"].private.size_counts.sum(axis=0)
    assert counts[1:3].sum() > 0.95 * counts.sum(), "most sets hold one or two diagnoses"


def test_sharp_sets_are_smaller_at_every_other_epsilon(sweep):
    for epsilon in (0.1, 0.2, 0.5, 1.0, 3.0):
        at = sweep.at(epsilon)
        sharp, paper = (at[rule].private.mean_size.mean() for rule in ("sharp", "paper"))
        assert at["paper"].nonprivate.mean_size.mean() - 0.002 < sharp < paper
        assert at["sharp"].private.coverage.mean() >= 0.9 - 0.004


def test_every_number_is_in_the_json(sweep):
    document = json.loads(coronahack.findings(sweep).as_json("the command"))
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
    columns = document["tables"][0]["columns"][1:4]
    assert columns == [f"coverage, {name}" for name in ("sharp rule", "paper's rule", "without privacy")]
    drawn = coronahack.figures(sweep)
    assert len(drawn) == 4
    assert {"sharp rule", "paper's rule", "without privacy"} <= {t.name for t in drawn["Coverage against ε"].data}


@pytest.mark.parametrize(
    ("experiment", "options"),
    [(coronahack, {}), (peers, {"ns": (100,)}), (per_diagnosis, {"epsilons": (1.0,)}), (two_by_two, {})],
)
def test_the_same_seed_gives_the_same_numbers(experiment, options):
    runs = (experiment.run(seed=seed, splits=2, **options) for seed in (1, 1, 2))
    first, again, other = (experiment.findings(run).as_json("") for run in runs)
    assert first == again != other


@pytest.mark.parametrize(
    ("experiment", "options"),
    [
        (levels, {"ns": (500, 1000), "epsilons": (1.0, 2.0)}),
        (coronahack, {"splits": 2}),
        (two_by_two, {"splits": 2}),
        (bins, {"bins": (1000,)}),
        (epsilons, {"epsilons": (1.0, 2.0)}),
        (peers, {"splits": 2, "ns": (1000,)}),
        (audit, {"draws": 20}),
    ],
)
def test_a_third_rule_that_is_only_registered_is_in_every_experiment(experiment, options, monkeypatch):
    monkeypatch.setitem(RULES, ThirdRule.name, ThirdRule())
    monkeypatch.setattr(audit, "LARGE", ((300, 2.0),))
    if experiment in (bins, epsilons):
        options = options | {"of": [Source("CoronaHack", Labelled.of(bundled_scores()), 1000, splits=2)]}
    result = experiment.run(**options)
    found, drawn = experiment.findings(result), experiment.figures(result)
    assert "third rule" in str(found.tables)
    assert experiment is audit or "third rule" in " ".join(found.sentences)
    assert '"third"' in found.as_json("")
    assert any("third" in f"{title} {[trace.name for trace in figure.data]}" for title, figure in drawn.items())


def test_all_four_cover_and_private_training_costs_more_than_private_calibration(four):
    for outcome in four.cells.values():
        assert outcome.coverage.mean() >= 0.9 - 3 * standard_error(outcome.coverage)
    assert four.accuracy["private"] < four.accuracy["plain"]
    assert four.cost_of_training() > four.cost_of_calibration("paper") > four.cost_of_calibration("sharp")
    assert two_by_two.findings(four).sentences[0].startswith("Private training costs more")
    assert 7.5 < four.training["private"]["epsilon spent"] <= 8
    assert four.training["private"]["delta"] == 1e-5


def test_a_folder_without_pictures_is_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("no picture")
    with pytest.raises(FileError):
        three_xrays.run(xrays=tmp_path)


def test_a_synthetic_xray_of_each_class_gets_a_ranked_set():
    sets = three_xrays.run()
    rows = [sets[number] for number in range(3)]
    assert [row.label for row in rows] == ["bacterial-pneumonia", "normal", "viral-pneumonia"]
    for row in rows:
        inside = [name for name, share in row.probabilities.items() if share >= 1 - sets.calibration.threshold - 1e-12]
        assert list(row.members) == inside, "likeliest first"
    assert isinstance(sets.calibration, Simulation)
    drawn = three_xrays.figures(sets)
    assert len(drawn) == 6
    assert [colour == BLUE for colour in drawn["X-ray 1: its set"].data[0].marker.color] == [True, True, False]
    assert drawn[f"X-ray 1: {rows[0].name}"].data[0].z.std() > 10, "a picture, not one grey"
    assert len(three_xrays.findings(sets).tables[0].rows) == 3


def test_the_first_three_readable_xrays_of_a_folder_are_shown(tmp_path):
    write_folder(tmp_path / "xrays", 5, seed=1)
    first, *others = sorted((tmp_path / "xrays").rglob("*.png"))
    first.write_bytes(b"\x89PNG\r\n\x1a\nnothing")
    shown = three_xrays.run(xrays=tmp_path / "xrays").names
    assert [Path(name).name for name in shown] == [path.name for path in others[:3]]
