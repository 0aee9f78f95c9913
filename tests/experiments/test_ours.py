"""Our experiments, reduced: audit, per-diagnosis and peers."""

import json
from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement
from statistics import NormalDist

import numpy as np
import pytest

from ppsets_core import plan
from ppsets_core.experiments import audit, peers, per_diagnosis
from ppsets_core.experiments.per_diagnosis import EACH, EACH_EXACT, TOGETHER, TOGETHER_EXACT, class_errors, class_means
from ppsets_core.explore import NONPRIVATE
from ppsets_core.method.bins import runs_of
from ppsets_core.method.rules import DEFAULT, RULES
from ppsets_core.method.rules.mechanism import run_probabilities
from ppsets_core.method.rules.paper import PaperQuantile
from ppsets_core.method.rules.sharp import RankQuantile
from ppsets_core.method.rules.sharp.bound import RHO
from ppsets_core.method.sets import nonprivate_threshold

ORDERS = (1.01, 1.5, 2.0, 4.0, 16.0, 64.0)
VIRAL = "viral-pneumonia"


@pytest.mark.parametrize("method", RULES)
def test_the_sharp_rule_uses_all_of_its_epsilon_and_the_papers_half(method):
    chosen = plan(500, 0.1, 1.0, method=method)
    loss = audit.loss_at_three_scores(chosen.mechanism, 500, chosen.m)
    assert 0.99 < loss <= 1 + 1e-9 if method == "sharp" else 0.5 < loss < 0.55


@pytest.mark.parametrize("rho", [Fraction(1, 4), Fraction(1, 2)])
def test_aiming_at_a_rank_keeps_epsilon_at_any_rho(rho):
    assert 0.99 < audit.loss_at_three_scores(RankQuantile(460, 1.0, rho), 500, 200) <= 1 + 1e-9


def test_the_research_codes_scaling_loses_more_than_it_says():
    mechanism, n, m = audit.research_code(500, 1.0)
    bound = 0.1 / 2 * (1 / (1 - mechanism.level) + 1 / mechanism.level)
    assert 1.4 < audit.loss_at_three_scores(mechanism, n, m) <= bound * (1 + 1e-9)
    assert audit.loss_at_three_scores(*audit.research_code(100, 1.0)) > 1e6, "with its level capped"


def test_three_scores_find_no_more_than_all_data_sets():
    for mechanism in (PaperQuantile(0.9, 2.0), audit.ResearchQuantile(0.97, 1.0)):
        three, every = (f(mechanism, 6, 4) for f in (audit.loss_at_three_scores, audit.loss_of_all))
        assert 0 < three <= every * (1 + 1e-12)


def test_releases_follow_their_law_and_a_wrong_law_is_noticed():
    fit = audit.fit_of_releases(np.random.default_rng(1).beta(1, 3, 300), DEFAULT, 400)
    assert fit.degrees > 0
    assert fit.p_value > 1e-6
    observed = np.random.default_rng(0).multinomial(2000, [0.25, 0.25, 0.25, 0.25])
    assert audit.chi_square(observed, np.array([0.35, 0.15, 0.25, 0.25]))[2] < 1e-6


@pytest.mark.statistical
def test_the_whole_audit_keeps_every_rules_epsilon():
    losses, fits = audit.run(draws=100)
    assert {loss.rule for loss in losses} == {*RULES, audit.RESEARCH}
    assert all(loss.is_kept for loss in losses if loss.rule != audit.RESEARCH)
    assert not all(loss.is_kept for loss in losses if loss.rule == audit.RESEARCH)
    assert all(fit.p_value > 1e-6 for fit in fits)


@pytest.fixture(scope="module")
def by_class():
    return per_diagnosis.run(splits=60, epsilons=(0.5, 1.0, 10.0))


def test_the_promise_for_each_reaches_every_diagnosis_and_the_one_for_all_does_not(by_class):
    for epsilon in by_class.epsilons:
        at = by_class.at(epsilon)
        assert (class_means(at[EACH]) >= 0.9 - 3 * class_errors(at[EACH])).all()
        assert class_means(at[TOGETHER])[by_class.classes.index(VIRAL)] < 0.86
        assert at[TOGETHER].coverage.mean() > 0.895
    sizes = {way: outcome.mean_size.mean() for way, outcome in by_class.at(1.0).items()}
    assert sizes[TOGETHER_EXACT] < sizes[TOGETHER] < 1.32
    assert sizes[TOGETHER_EXACT] + 0.05 < sizes[EACH_EXACT] < sizes[EACH] < 1.52


def test_table_sentences_and_figures_follow_the_numbers(by_class):
    told = per_diagnosis.findings(by_class)
    document = json.loads(told.as_json(""))
    rows, exact = {tuple(row[:2]): row[2:] for row in document["tables"][0]["rows"]}, document["numbers"][EACH_EXACT]
    assert len(rows) == 2 * 3 + 2
    kept = document["numbers"][EACH][by_class.epsilons.index(1.0)]
    means = class_means(by_class.at(1.0)[EACH])
    assert (kept["plan"]["per"], list(kept["coverage_by_class"])) == ("diagnosis", list(by_class.classes))
    assert list(kept["coverage_by_class"].values()) == pytest.approx(means)
    assert rows[1.0, EACH] == pytest.approx([*means, kept["coverage"], kept["mean_size"]], abs=1e-3)
    assert rows["∞", EACH_EXACT][-1] == pytest.approx(exact["mean_size"], abs=1e-3)
    together, each = told.sentences
    assert "at 0 of the 3 ε" in together
    assert f"of {VIRAL} at" in together
    assert "at 3 of the 3 ε" in each
    lower = replace(by_class.each[0].private, coverage_by_class=by_class.each[0].private.coverage_by_class - 0.3)
    worse = replace(by_class, each=(replace(by_class.each[0], private=lower), *by_class.each[1:]))
    assert "at 2 of the 3 ε" in per_diagnosis.findings(worse).sentences[1]
    drawn = per_diagnosis.figures(by_class)
    assert len(drawn) == 3
    coverage = {trace.name: trace.y for trace in drawn["Coverage of each diagnosis against ε"].data}
    assert len(coverage) == 2 * 3 + 1
    assert coverage[f"{VIRAL}, {EACH}"][1] == pytest.approx(means[2])
    named = {trace.name for trace in drawn["Mean set size against ε"].data}
    assert named == {TOGETHER, EACH, TOGETHER_EXACT, EACH_EXACT}


def test_a_class_that_a_split_leaves_out_is_not_counted(by_class):
    outcome = by_class.each[0].private
    gaps = outcome.coverage_by_class.copy()
    gaps[:30, 0] = np.nan
    partly = replace(outcome, coverage_by_class=gaps)
    assert class_means(partly)[0] == pytest.approx(outcome.coverage_by_class[30:, 0].mean())
    assert class_errors(partly)[0] == pytest.approx(outcome.coverage_by_class[30:, 0].std(ddof=1) / np.sqrt(30))


def law(mechanism, bins, m):
    """P(ŝ = e_j) for j = 1…m, of records in these bins."""
    runs = runs_of((np.array(bins) - 0.5) / m, m)
    return np.repeat(run_probabilities(mechanism, runs, len(bins)) / runs.bins, runs.bins)


def largest_divergence(mechanism, n, m):
    """The largest Rényi divergence over its order, over all data sets, all replacements of a record and ORDERS."""
    laws = {bins: law(mechanism, bins, m) for bins in combinations_with_replacement(range(1, m + 1), n)}
    found = []
    for bins, p in laws.items():
        for place in range(n):
            for other in range(1, m + 1):
                q = laws[tuple(sorted((*bins[:place], other, *bins[place + 1 :])))]
                logs = np.log(p) - np.log(q)
                found += [np.log(np.sum(q * np.exp(a * logs))) / (a - 1) / a for a in ORDERS]
    return max(found)


@pytest.mark.parametrize(("n", "m"), [(3, 3), (5, 3), (4, 4)])
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
def test_our_mechanisms_are_zero_concentrated_with_an_eighth_of_epsilon_squared(n, m, epsilon):
    sharp = [RankQuantile(k, epsilon, RHO) for k in range(1, n + 1)]
    largest = [largest_divergence(mechanism, n, m) for mechanism in (*sharp, PaperQuantile(0.8, epsilon))]
    assert max(largest) <= peers.zcdp_of(epsilon) * (1 + 1e-9)
    if epsilon < 2:
        assert max(largest) > 0.8 * peers.zcdp_of(epsilon)


def test_the_search_without_noise_finds_the_conformal_threshold():
    """Or a number between it and the next score: where the count is the target exactly, the least noise decides."""
    scores = np.sort(np.random.default_rng(0).beta(1, 4, (50, 99)))
    found = peers.p_coqs(scores, 0.1, 1e12, 1e-10, np.random.default_rng(1))
    assert [nonprivate_threshold(row, 0.1) for row in scores] == scores[:, 89].tolist()
    assert (found >= scores[:, 89] - 1e-8).all()
    assert (found <= scores[:, 90] + 1e-8).all()


@pytest.mark.parametrize(("delta", "steps"), [(0.5, 1), (0.25, 2), (1e-3, 10)])
def test_each_step_gets_its_share_of_rho(delta, steps):
    """The first count decides the half: 85 of 99 scores are in the lower one, the target is 90."""
    scores = np.broadcast_to(np.repeat([0.2, 0.8], [85, 14]), (20_000, 99))
    rho = 0.05
    upper = (peers.p_coqs(scores, 0.1, rho, delta, np.random.default_rng(2)) > 0.5).mean()
    expected = NormalDist(0, (steps / (2 * rho)) ** 0.5).cdf(90 - 85)
    assert upper == pytest.approx(expected, abs=5 * np.sqrt(expected * (1 - expected) / 20_000))


@pytest.fixture(scope="module")
def found():
    return peers.run(splits=60)


def test_all_cover_but_the_search_where_records_are_few(found):
    large, small = found[1000], found[100]
    for rule in RULES:
        assert not any(trial.falls_short for trial in (*large[rule], *small[rule]))
    for peer in peers.PEERS:
        assert small[peer][0].falls_short
        assert not large[peer][-1].falls_short
        assert large[peer][2].mean_size.mean() < large["sharp"][2].mean_size.mean()
    published, fewer = (small[peer][0].coverage.mean() for peer in peers.PEERS)
    assert published < fewer < 0.87


def test_a_trial_counts_sets_and_records_left_over(found):
    for trials in found.values():
        trial = trials["paper"][0]
        assert trial.trivial
        assert (trial.mean_size == 3).all()
        assert trial.numbers["below"] == 0 == trial.numbers["standard_error"]
    exact = found[1000][NONPRIVATE][0]
    assert exact.coverage.mean() == pytest.approx(0.9, abs=0.01)
    assert exact.coverage * 500 == pytest.approx(np.rint(exact.coverage * 500))
    assert 0.2 < exact.numbers["below"] < 0.8


@pytest.mark.parametrize(
    ("low", "high", "is_short", "below"), [(0.88, 0.9, True, 0.5), (0.8, 0.99, False, 0.5), (0.9, 0.9, False, 0)]
)
def test_falling_short_is_two_standard_errors(low, high, is_short, below):
    trial = peers.Trial(np.repeat([low, high], 50), np.ones(100))
    assert (trial.falls_short, trial.numbers["below"]) == (is_short, below)


def test_tables_sentences_and_numbers_of_the_peers(found):
    told = peers.findings(found)
    document = json.loads(told.as_json(""))
    coverages, sizes = document["tables"][:2]
    assert [coverages["title"], sizes["title"]] == [
        "Mean coverage ± its standard error, n = 1,000",
        "Mean set size, n = 1,000",
    ]
    assert sizes["columns"] == ["ε", "ρ", "sharp rule", "paper's rule", *peers.PEERS, "without privacy"]
    assert [row[:2] for row in sizes["rows"]][:3] == [[0.2, 0.005], [0.5, 0.03125], [1.0, 0.125]]
    kept = document["numbers"]["n = 1000"]
    assert sizes["rows"][2][4] == pytest.approx(kept["P-COQS"][2]["mean_size"], abs=1e-3)
    assert kept[NONPRIVATE]["coverage"] == pytest.approx(found[1000][NONPRIVATE][0].coverage.mean())
    large, small = (next(s for s in told.sentences if s.startswith(f"n = {n}: P-COQS gives")) for n in ("1,000", "100"))
    assert "smaller sets than the sharp rule at every ε" in large
    assert "less than asked for at ε = 0.2, 0.5" in small
