"""The library against a plain transcription of the paper's Algorithms 2 to 5; reference files against their script."""

import json
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ppsets_core import plan, prediction_sets, release_distribution, simulate
from ppsets_core.method.plan import best_m
from tests.method import oracle
from tools import build_reference
from tools.build_reference import FOLDER, exact

FEW = {"alpha": st.sampled_from([0.05, 0.1, 0.2, 0.5]), "epsilon": st.sampled_from([0.3, 1.0, 4.0, 20.0])}


@given(n=st.integers(1, 10**6), m=st.integers(2, 10**6), **FEW)
@settings(deadline=None)
def test_gamma_and_level_are_those_of_algorithms_5_and_3(n, m, alpha, epsilon):
    gamma = oracle.best_gamma(n, exact(alpha), exact(epsilon), m)
    chosen = plan(n, alpha, epsilon, method="paper", m=m)
    assert chosen.gamma == pytest.approx(float(gamma), rel=1e-9)
    assert chosen.level == pytest.approx(float(oracle.level(n, exact(alpha), exact(epsilon), m, gamma)), rel=1e-12)


@given(seed=st.integers(0, 10**6), n=st.integers(5, 60), m=st.integers(2, 25), **FEW)
@settings(max_examples=40, deadline=None)
def test_law_of_the_draw_is_that_of_algorithms_3_and_2(seed, n, m, alpha, epsilon):
    """Probabilities in hundredths, so that scores lie on edges of bins, too."""
    right = np.random.default_rng(seed).integers(0, 101, n)
    rows = [[Decimal(int(p)) / 100, 1 - Decimal(int(p)) / 100] for p in right]
    chosen = plan(n, alpha, epsilon, method="paper", m=m)
    gamma = oracle.best_gamma(n, exact(alpha), exact(epsilon), m)
    law = oracle.calibration_law(rows, [0] * n, exact(alpha), exact(epsilon), m, gamma)
    ours = release_distribution(np.array([float(1 - row[0]) for row in rows]), chosen)
    each = np.zeros(m)
    for upper, bins, probability in zip(ours.upper, ours.bins, ours.probability, strict=True):
        last = round(upper * m)
        each[last - bins : last] = probability / bins
    assert each == pytest.approx([float(p) for p in law], rel=1e-9, abs=1e-300)


ROW = st.lists(st.integers(0, 100), min_size=3, max_size=3).filter(any)


@given(rows=st.lists(ROW, min_size=1), edge=st.integers(1, 10))
@settings(deadline=None)
def test_sets_are_those_of_algorithm_4(rows, edge):
    """Thresholds in tenths, which some probabilities meet exactly."""
    rows = [[Decimal(p) / sum(row) for p in row] for row in rows]
    alike = np.full(100, edge / 10 - 0.05)  # all in one bin, so ŝ is its edge
    drawn = simulate(alike, plan(100, 0.1, 1000.0, m=10), np.random.default_rng(0))
    sets = prediction_sets([[float(p) for p in row] for row in rows], drawn)
    assert drawn.threshold == edge / 10
    for row, members in zip(rows, sets, strict=True):
        assert np.flatnonzero(members).tolist() == oracle.prediction_set(row, Decimal(edge) / 10)


@pytest.mark.parametrize(("n", "epsilon"), [(250, 1.0), (60, 6.0)])
def test_number_of_bins_is_that_of_algorithm_5(n, epsilon):
    """Over the first values of the paper's grid: further ones only raise the level of so few records."""
    grid = (100, 121, 146)
    means = {m: float(oracle.expected_output(n, Decimal("0.1"), exact(epsilon), m)) for m in grid}
    for m, mean in means.items():
        assert plan(n, 0.1, epsilon, method="paper", m=m).coverage_expected == pytest.approx(mean, rel=1e-9)
    assert best_m(n, 0.1, epsilon, "paper") == min(grid, key=means.get) == 100


def test_paper_reference_is_what_its_script_writes():
    assert json.loads((FOLDER / "method.json").read_text()) == build_reference.paper_values()


@pytest.mark.statistical
def test_sharp_reference_is_what_its_script_writes():
    """Rows of few records; the script itself takes two minutes for all."""
    kept = json.loads((FOLDER / "sharp.json").read_text())
    assert kept["sharp_pmf"] == [build_reference.sharp_pmf(*row) for row in build_reference.LAWS]
    small = [row for row in build_reference.RANKS if row[0] <= 50]
    assert [row for row in kept["sharp_rank"] if row["n"] <= 50] == [build_reference.sharp_rank(*row) for row in small]
