"""The promise itself: over all data sets and all replace-one neighbours the release law changes by at most ε."""

import dataclasses
import itertools
import json
import math
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from ppsets_core import plan, release_distribution
from ppsets_core.method.bins import runs_of
from ppsets_core.method.rules import RULES
from ppsets_core.method.rules.mechanism import run_probabilities, scale_for
from ppsets_core.method.rules.paper import PaperQuantile
from ppsets_core.method.rules.sharp import RankQuantile
from tests.method.rules.enumeration import data_sets, neighbours, runs_of_counts

REFERENCE = json.loads((Path(__file__).parents[1] / "reference" / "method.json").read_text())
RHOS = (Fraction(1, 4), Fraction(1, 2), Fraction(1), Fraction(2, 3))


def mechanisms(n: int, epsilon: float) -> list:
    """At every rank, also above n, for several ρ, and at levels from ½ to almost 1."""
    levels = (0.5, 0.501, 0.6, 0.77, 0.9, 0.95, 0.99, 1 - 1e-9, 1 - 1e-12)
    ranks = itertools.product(range(1, n + 8), RHOS)
    return [RankQuantile(rank, epsilon, rho) for rank, rho in ranks] + [PaperQuantile(one, epsilon) for one in levels]


def largest_loss(mechanism, n: int, m: int) -> float:
    """The largest |log-ratio| of the release law between neighbours: one record moved from bin a to bin b."""
    one, other = neighbours(n, m)
    logs = np.log(run_probabilities(mechanism, runs_of_counts(data_sets(n, m)), n))
    return float(np.abs(logs[one] - logs[other]).max())


@pytest.mark.parametrize(("n", "m"), [(1, 2), (3, 5), (5, 4), (8, 4), (12, 3)])
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 3.3, 8.0])
def test_loss_is_at_most_epsilon_at_every_rank_and_level(n, m, epsilon):
    for mechanism in mechanisms(n, epsilon):
        assert largest_loss(mechanism, n, m) <= epsilon * (1 + 1e-12)


@pytest.mark.parametrize(("rho", "share"), [(Fraction(1, 4), 0.85), (Fraction(1, 2), 0.84), (Fraction(1), 0.7)])
def test_a_target_rank_uses_most_of_its_epsilon(rho, share):
    assert max(largest_loss(RankQuantile(rank, 1.0, rho), 8, 4) for rank in range(1, 9)) >= share


def test_audit_notices_the_research_codes_scaling():
    """min(α, 1−α) in place of min(q, 1−q) loses more than ε: the audit would catch such a mechanism here too."""

    class ResearchCode(PaperQuantile):
        def log_weight(self, below, upto, n):
            return -self.epsilon / 2 * 0.1 * np.maximum(below / self.level, (n - upto) / (1 - self.level))

    assert largest_loss(ResearchCode(0.97, 1.0), 8, 4) > 1.2


@pytest.mark.parametrize(("n", "m"), [(5, 4), (8, 4)])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.3, 1e-12, 1e12])
def test_integers_given_to_the_sampler_lose_at_most_epsilon_exactly(n, m, epsilon):
    """In rational arithmetic: (largest − smallest change of a score)/scale ≤ the decimal ε that the ledger charges."""
    one, other = neighbours(n, m)
    for mechanism in mechanisms(n, epsilon):
        scores, scale = mechanism.exact_scores(runs_of_counts(data_sets(n, m)), n)
        assert scores.dtype == np.int64
        change = scores[other] - scores[one]
        spread = int((np.maximum(change.max(axis=1), 0) - np.minimum(change.min(axis=1), 0)).max())
        assert Fraction(spread) / Fraction(scale) <= Fraction(Decimal(repr(epsilon)))


def test_integers_follow_the_same_law_as_the_floats():
    scores = np.random.default_rng(3).random(500)
    for chosen in (*(plan(500, 0.1, 1.0, method=rule) for rule in RULES), plan(500, 0.3, 7.0, m=10)):
        runs = runs_of(scores, chosen.m)
        integers, scale = chosen.mechanism.exact_scores(runs, 500)
        weights = runs.bins * np.exp((integers - integers.max()) / scale)
        assert run_probabilities(chosen.mechanism, runs, 500) == pytest.approx(weights / weights.sum(), rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.1, 0.3, 1.0, 7.7, 1e-5])
def test_scale_is_rounded_up_and_by_one_step_at_most(epsilon):
    exact = 5 / Fraction(Decimal(repr(epsilon)))
    scale = scale_for(epsilon, 5)
    assert Fraction(scale) >= exact > Fraction(math.nextafter(scale, 0))


def scores_from(counts: list[int]) -> np.ndarray:
    m = len(counts)
    return np.repeat((np.arange(m) + 0.5) / m, counts)


def law_by_bin(scores: np.ndarray, chosen) -> np.ndarray:
    law = release_distribution(scores, chosen)
    assert law.probability.sum() == pytest.approx(1)
    assert law.bins.sum() == chosen.m
    assert law.upper[-1] == 1
    return np.repeat(law.probability / law.bins, law.bins)


@pytest.mark.parametrize("row", REFERENCE["paper_pmf"])
def test_paper_law_matches_the_reference(row):
    n, m = sum(row["bin_counts"]), len(row["bin_counts"])
    planned = plan(n, 0.1, row["epsilon"], m=m, method="paper")
    chosen = dataclasses.replace(planned, targets=(dataclasses.replace(planned.targets[0], level=row["q"]),))
    assert law_by_bin(scores_from(row["bin_counts"]), chosen) == pytest.approx(row["probabilities"], rel=1e-9)


def test_trivial_law_is_the_number_one():
    law = release_distribution(np.array([0.2, 0.4]), plan(2, 0.1, 1.0))
    assert (law.upper.tolist(), law.bins.tolist(), law.probability.tolist()) == ([1.0], [1], [1.0])
