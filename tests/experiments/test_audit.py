import numpy as np
import pytest
from scipy.stats import chi2

from ppsets_core import plan
from ppsets_core.experiments import audit
from ppsets_core.experiments.goodness_of_fit import chi_square, chi_square_tail
from ppsets_core.experiments.privacy_loss import loss_at_three_scores, loss_of_all
from ppsets_core.experiments.research_code import ResearchQuantile
from ppsets_core.mechanism import PaperQuantile


@pytest.mark.parametrize("method", ["paper", "sharp"])
def test_both_rules_keep_their_epsilon(method):
    chosen = plan(500, 0.1, 1.0, method=method)
    assert loss_at_three_scores(chosen.mechanism, 500, chosen.m) <= 1


def test_the_sharp_rule_uses_all_of_its_epsilon_and_the_papers_half():
    sharp, paper = (plan(500, 0.1, 1.0, method=method) for method in ("sharp", "paper"))
    assert loss_at_three_scores(sharp.mechanism, 500, sharp.m) > 0.99
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


@pytest.mark.parametrize("degrees", [1, 2, 7, 40])
@pytest.mark.parametrize("statistic", [0.0, 0.3, 5.0, 60.0])
def test_tail_of_chi_square(degrees, statistic):
    assert chi_square_tail(statistic, degrees) == pytest.approx(chi2.sf(statistic, degrees), rel=1e-9)


def test_releases_follow_their_law_and_a_wrong_law_is_noticed():
    scores = np.random.default_rng(1).beta(1, 3, 300)
    fit = audit.fit_of_releases(scores, "sharp", 400)
    assert fit.p_value > 1e-6
    observed = np.random.default_rng(0).multinomial(2000, [0.25, 0.25, 0.25, 0.25])
    assert chi_square(observed, np.array([0.35, 0.15, 0.25, 0.25]))[2] < 1e-6


def test_the_table_says_who_keeps_epsilon():
    losses = tuple(audit.Loss(rule, 8, 4, 0.9, 1.0, "every data set", loss) for rule, loss in
                   (("paper", 0.5), ("sharp", 1.0), ("research", 1.4)))  # fmt: skip
    found = audit.findings(audit.Audit(losses, (audit.Fit("paper", 10, 1.0, 2, 0.6),)))
    assert [row[-1] for row in found.tables[0].rows] == ["yes", "yes", "NO"]
    assert "2 of 2" in found.sentences[0]
