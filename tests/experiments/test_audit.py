from fractions import Fraction

import numpy as np
import pytest

from ppsets_core import plan
from ppsets_core.experiments import audit
from ppsets_core.experiments.audit import ResearchQuantile, chi_square, loss_at_three_scores, loss_of_all
from ppsets_core.method.rules import DEFAULT, RULES
from ppsets_core.method.rules.paper import PaperQuantile
from ppsets_core.method.rules.rank_quantile import RankQuantile


@pytest.mark.parametrize("method", RULES)
def test_every_rule_keeps_its_epsilon(method):
    chosen = plan(500, 0.1, 1.0, method=method)
    assert loss_at_three_scores(chosen.mechanism, 500, chosen.m) <= 1 + 1e-9


@pytest.mark.parametrize("rho", [Fraction(1, 4), Fraction(1, 2)])
def test_aiming_at_a_rank_uses_all_of_its_epsilon_and_the_papers_rule_half(rho):
    assert 0.99 < loss_at_three_scores(RankQuantile(460, 1.0, rho), 500, 200) <= 1 + 1e-9
    paper = plan(500, 0.1, 1.0, method="paper")
    assert 0.5 < loss_at_three_scores(paper.mechanism, 500, paper.m) < 0.55


def test_the_research_codes_scaling_loses_more_than_it_says():
    mechanism, n, m = audit.research_code(500, 1.0)
    bound = 0.1 / 2 * (1 / (1 - mechanism.level) + 1 / mechanism.level)
    assert 1.4 < loss_at_three_scores(mechanism, n, m) <= bound * (1 + 1e-9)
    capped, n, m = audit.research_code(100, 1.0)
    assert loss_at_three_scores(capped, n, m) > 1e6


def test_three_scores_find_no_more_than_all_data_sets():
    for mechanism in (PaperQuantile(0.9, 2.0), ResearchQuantile(0.97, 1.0)):
        assert 0 < loss_at_three_scores(mechanism, 6, 4) <= loss_of_all(mechanism, 6, 4) * (1 + 1e-12)


def test_releases_follow_their_law_and_a_wrong_law_is_noticed():
    scores = np.random.default_rng(1).beta(1, 3, 300)
    fit = audit.fit_of_releases(scores, DEFAULT, 400)
    assert fit.degrees > 0
    assert fit.p_value > 1e-6
    observed = np.random.default_rng(0).multinomial(2000, [0.25, 0.25, 0.25, 0.25])
    assert chi_square(observed, np.array([0.35, 0.15, 0.25, 0.25]))[2] < 1e-6


def test_the_table_says_who_keeps_epsilon():
    rows = (("paper", 0.5), ("sharp", 1.0), (audit.RESEARCH, 1.4))
    losses = tuple(audit.Loss(rule, 8, 4, 0.9, 1.0, "every data set", loss) for rule, loss in rows)
    audited = losses, (audit.Fit("paper", 10, 1.0, 2, 0.6),)
    found = audit.findings(audited)
    assert [row[-1] for row in found.tables[0].rows] == ["yes", "yes", "NO"]
    assert "2 of 2" in found.sentences[0]
    assert "exceeds it in 1 of 1" in found.sentences[0]
    (drawn,) = audit.figures(audited).values()
    assert {trace.name: trace.x for trace in drawn.data}[audit.RESEARCH] == (1.4,)


@pytest.mark.statistical
def test_the_whole_audit_keeps_every_rules_epsilon():
    losses, fits = audit.run(draws=100)
    assert {loss.rule for loss in losses} == {*RULES, audit.RESEARCH}
    assert all(loss.is_kept for loss in losses if loss.rule != audit.RESEARCH)
    assert not all(loss.is_kept for loss in losses if loss.rule == audit.RESEARCH)
    assert all(fit.p_value > 1e-6 for fit in fits)
