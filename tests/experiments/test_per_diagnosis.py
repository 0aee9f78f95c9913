import json
from dataclasses import replace

import numpy as np
import pytest

from ppsets_core.experiments import per_diagnosis
from ppsets_core.experiments.per_diagnosis import EACH, EACH_EXACT, TOGETHER, TOGETHER_EXACT, class_errors, class_means

VIRAL = "viral-pneumonia"


@pytest.fixture(scope="module")
def found():
    return per_diagnosis.run(splits=60, epsilons=(0.5, 1.0, 10.0))


def test_the_promise_for_each_reaches_every_diagnosis_and_the_one_for_all_does_not(found):
    for epsilon in found.epsilons:
        at = found.at(epsilon)
        assert (class_means(at[EACH]) >= 0.9 - 3 * class_errors(at[EACH])).all()
        assert class_means(at[TOGETHER])[found.classes.index(VIRAL)] < 0.86
        assert at[TOGETHER].coverage.mean() > 0.895


def test_sizes_at_the_epsilon_shown(found):
    sizes = {way: outcome.mean_size.mean() for way, outcome in found.at(1.0).items()}
    assert sizes[TOGETHER_EXACT] < sizes[TOGETHER] < 1.32
    assert sizes[TOGETHER_EXACT] + 0.05 < sizes[EACH_EXACT] < sizes[EACH] < 1.52


def test_the_table_and_the_numbers_say_the_same(found):
    told = per_diagnosis.findings(found)
    document = json.loads(told.as_json(""))
    rows = {(row[0], row[1]): row[2:] for row in document["tables"][0]["rows"]}
    assert len(rows) == 2 * 3 + 2
    kept = document["numbers"][EACH][found.epsilons.index(1.0)]
    assert kept["plan"]["per"] == "diagnosis"
    for number, name in enumerate(found.classes):
        assert kept["coverage_by_class"][name] == pytest.approx(class_means(found.at(1.0)[EACH])[number])
        assert rows[1.0, EACH][number] == pytest.approx(kept["coverage_by_class"][name], abs=1e-4)
    assert rows[1.0, EACH][-1] == pytest.approx(kept["mean_size"], abs=1e-3)
    assert rows["∞", EACH_EXACT][-1] == pytest.approx(document["numbers"][EACH_EXACT]["mean_size"], abs=1e-3)


def test_the_sentences_follow_the_numbers(found):
    together, each, cost = per_diagnosis.findings(found).sentences
    assert "at 0 of the 3 ε" in together
    assert f"of {VIRAL} at" in together
    assert "at 3 of the 3 ε" in each
    assert all(f"at ε = {epsilon}" in cost for epsilon in ("0.5", "1", "10"))
    lower = replace(found.each[0].private, coverage_by_class=found.each[0].private.coverage_by_class - 0.3)
    worse = replace(found, each=(replace(found.each[0], private=lower), *found.each[1:]))
    assert "at 2 of the 3 ε" in per_diagnosis.findings(worse).sentences[1]
    assert "at ε = 0.5." in per_diagnosis.findings(worse).sentences[1]


def test_a_class_that_a_split_leaves_out_is_not_counted(found):
    outcome = found.each[0].private
    gaps = outcome.coverage_by_class.copy()
    gaps[:30, 0] = np.nan
    partly = replace(outcome, coverage_by_class=gaps)
    assert class_means(partly)[0] == pytest.approx(outcome.coverage_by_class[30:, 0].mean())
    assert class_errors(partly)[0] == pytest.approx(outcome.coverage_by_class[30:, 0].std(ddof=1) / np.sqrt(30))


def test_figures(found):
    drawn = per_diagnosis.figures(found)
    assert len(drawn) == 3
    by_class = {trace.name: trace for trace in drawn["Coverage of each diagnosis against ε"].data}
    assert len(by_class) == 2 * 3 + 1
    assert by_class[f"{VIRAL}, {TOGETHER}"].y[1] == pytest.approx(class_means(found.at(1.0)[TOGETHER])[2])
    assert {trace.name for trace in drawn["Mean set size against ε"].data} == {
        TOGETHER,
        EACH,
        TOGETHER_EXACT,
        EACH_EXACT,
    }


def test_the_same_seed_gives_the_same_numbers():
    first, again, other = (per_diagnosis.run(seed=seed, splits=2, epsilons=(1.0,)) for seed in (1, 1, 2))
    texts = [per_diagnosis.findings(found).as_json("") for found in (first, again, other)]
    assert texts[0] == texts[1] != texts[2]
