import json
from itertools import combinations_with_replacement
from statistics import NormalDist

import numpy as np
import pytest

from ppsets_core.errors import InputError
from ppsets_core.experiments import peers
from ppsets_core.experiments.peers import epsilon_of, p_coqs, zcdp_of
from ppsets_core.explore import NONPRIVATE
from ppsets_core.method.bins import runs_of
from ppsets_core.method.nonprivate import nonprivate_threshold
from ppsets_core.method.rules import RULES
from ppsets_core.method.rules.mechanism import run_probabilities
from ppsets_core.method.rules.paper import PaperQuantile
from ppsets_core.method.rules.rank_quantile import RankQuantile
from ppsets_core.method.rules.sharp.bound import RHO
from tests.explore.third_rule import ThirdRule

ORDERS = (1.01, 1.5, 2.0, 4.0, 16.0, 64.0)


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
    assert max(largest) <= zcdp_of(epsilon) * (1 + 1e-9)
    if epsilon < 2:
        assert max(largest) > 0.8 * zcdp_of(epsilon)


def test_zcdp_in_terms_of_epsilon_and_delta():
    assert zcdp_of(2.0) == 0.5
    assert epsilon_of(0.5, np.exp(-2)) == pytest.approx(2.5)


def test_the_search_without_noise_finds_the_conformal_threshold():
    """Or a number between it and the next score: where the count is the target exactly, the least noise decides."""
    scores = np.sort(np.random.default_rng(0).beta(1, 4, (50, 99)))
    found = p_coqs(scores, 0.1, 1e12, np.random.default_rng(1))
    assert [nonprivate_threshold(row, 0.1) for row in scores] == scores[:, 89].tolist()
    assert (found >= scores[:, 89] - 1e-8).all()
    assert (found <= scores[:, 90] + 1e-8).all()


@pytest.mark.parametrize(("delta", "steps"), [(0.5, 1), (0.25, 2), (1e-3, 10)])
def test_each_step_gets_its_share_of_rho(delta, steps):
    """The first count decides the half: 85 of 99 scores are in the lower one, the target is 90."""
    scores = np.broadcast_to(np.repeat([0.2, 0.8], [85, 14]), (20_000, 99))
    rho = 0.05
    upper = (p_coqs(scores, 0.1, rho, np.random.default_rng(2), delta=delta) > 0.5).mean()
    expected = NormalDist(0, (steps / (2 * rho)) ** 0.5).cdf(90 - 85)
    assert upper == pytest.approx(expected, abs=5 * np.sqrt(expected * (1 - expected) / 20_000))


@pytest.fixture(scope="module")
def found():
    return peers.run(splits=60)


def test_all_cover_but_the_search_where_records_are_few(found):
    large, small = found
    assert (large.n, small.n) == (1000, 100)
    for one in found:
        for rule in RULES:
            assert not any(trial.falls_short for trial in one.trials[rule])
    for peer in peers.PEERS:
        assert small.trials[peer][0].falls_short
        assert not large.trials[peer][-1].falls_short
        assert large.trials[peer][2].mean_size.mean() < large.trials["sharp"][2].mean_size.mean()
    published, fewer = (small.trials[peer][0].coverage.mean() for peer in peers.PEERS)
    assert published < fewer < 0.87


def test_a_trial_counts_sets_and_records_left_over(found):
    for trial in (found[1].trials["paper"][0], found[0].trials["paper"][0]):
        assert trial.trivial
        assert (trial.mean_size == 3).all()
        assert trial.below == 0 == trial.standard_error
    exact = found[0].trials[NONPRIVATE][0]
    assert exact.coverage.mean() == pytest.approx(0.9, abs=0.01)
    assert exact.coverage * 500 == pytest.approx(np.rint(exact.coverage * 500))
    assert 0.2 < exact.below < 0.8


def test_falling_short_is_two_standard_errors():
    def trial(low, high):
        return peers.Trial(np.repeat([low, high], 50), np.ones(100))

    assert trial(0.88, 0.9).falls_short
    assert not trial(0.8, 0.99).falls_short
    assert trial(0.9, 0.9).below == 0
    assert trial(0.89, 0.91).below == 0.5


def test_tables_sentences_and_numbers(found):
    told = peers.findings(found)
    document = json.loads(told.as_json(""))
    assert [table["title"] for table in document["tables"][:3]] == [
        "Mean coverage ± its standard error, n = 1,000",
        "Share of splits below 0.9, n = 1,000",
        "Mean set size, n = 1,000",
    ]
    sizes = document["tables"][2]
    assert sizes["columns"] == ["ε", "ρ", "sharp rule", "paper's rule", *peers.PEERS, "without privacy"]
    assert [row[:2] for row in sizes["rows"]][:3] == [[0.2, 0.005], [0.5, 0.03125], [1.0, 0.125]]
    kept = document["numbers"]["n = 1000"]
    assert sizes["rows"][2][4] == pytest.approx(kept["P-COQS"][2]["mean_size"], abs=1e-3)
    assert kept[NONPRIVATE]["coverage"] == pytest.approx(found[0].trials[NONPRIVATE][0].coverage.mean())
    assert "no pure ε: at ε = 1 its ρ = 0.125" in told.sentences[0]
    large, small = (next(s for s in told.sentences if s.startswith(f"n = {n}: P-COQS gives")) for n in ("1,000", "100"))
    assert "smaller sets than the sharp rule at every ε" in large
    assert "less than asked for at ε = 0.2, 0.5" in small
    short = found[1].trials["P-COQS"][0]
    assert f"{short.coverage.mean():.4f} ± {short.standard_error:.4f}" in small
    assert "the sharp rule at no ε and the paper's rule at no ε (too few records at ε = 0.2)" in " ".join(
        told.sentences
    )


def test_figures(found):
    drawn = peers.figures(found)
    assert len(drawn) == 6
    coverage = {trace.name: trace for trace in drawn["Mean coverage, n = 100"].data}
    assert coverage.keys() == {"sharp rule", "paper's rule", *peers.PEERS, "without privacy", "asked for"}
    assert coverage["P-COQS"].y[0] == pytest.approx(found[1].trials["P-COQS"][0].coverage.mean())
    assert coverage["paper's rule"].marker.symbol[0].endswith("-open")
    looks = {(trace.line.color, trace.line.dash) for trace in coverage.values()}
    assert len(looks) == len(coverage)


def test_a_third_rule_is_told_and_drawn(monkeypatch):
    monkeypatch.setitem(RULES, ThirdRule.name, ThirdRule())
    result = peers.run(splits=2, ns=(1000,))
    told = peers.findings(result)
    assert "third rule" in told.tables[0].columns
    assert "than the third rule" in " ".join(told.sentences)
    (drawn, *_) = peers.figures(result).values()
    assert len({(t.line.color, t.line.dash) for t in drawn.data}) == len(drawn.data)


def test_the_same_seed_gives_the_same_numbers():
    first, again, other = (peers.findings(peers.run(seed=s, splits=2, ns=(100,))).as_json("") for s in (1, 1, 2))
    assert first == again != other


def test_too_few_records_are_refused():
    with pytest.raises(InputError, match="leaves none"):
        peers.run(ns=(1500,))
