"""Every score lies in its own bin, as floating point compares it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppsets_core.method.bins import BinCounter, bin_index, runs_of

BINS = st.integers(2, 10**6)


def assert_inside(scores: np.ndarray, m: int) -> None:
    j = bin_index(scores, m)
    assert ((j >= 1) & (j <= m)).all()
    assert (scores <= j / m).all()
    assert (((j - 1) / m < scores) | ((scores == 0) & (j == 1))).all()


@given(BINS, st.data())
def test_scores_at_and_next_to_an_edge_lie_inside_their_bin(m, data):
    edge = data.draw(st.integers(0, m)) / m
    near = np.array([np.nextafter(edge, -1), edge, np.nextafter(edge, 2), edge * (1 - 2**-52), edge * (1 + 2**-51)])
    assert_inside(near[(near >= 0) & (near <= 1)], m)


@pytest.mark.parametrize("m", [2, 3, 7, 10, 49, 97, 1000, 65537, 999_983, 10**6])
def test_every_edge_and_its_neighbours_for_a_whole_grid(m):
    edges = np.arange(m + 1) / m
    for scores in (edges, np.nextafter(edges, -1)[1:], np.nextafter(edges, 2)[:-1]):
        assert_inside(scores, m)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=60), st.integers(2, 200))
def test_runs_tile_the_bins_and_count_ranks_as_every_single_bin_does(scores, m):
    runs = runs_of(np.array(scores), m)
    assert len(runs.first) <= 2 * len(scores) + 2  # the top bin is a run of its own
    assert runs.first[0] == 1
    assert runs.last[-1] == m
    assert (runs.first[1:] == runs.last[:-1] + 1).all()
    upto = np.cumsum(np.bincount(bin_index(np.array(scores), m), minlength=m + 1)[1:])
    below = np.concatenate([[0], upto[:-1]])
    assert (np.repeat(runs.upto, runs.bins) == upto).all()
    assert (np.repeat(runs.below, runs.bins) == below).all()


@pytest.mark.parametrize("m", [10, 50_000])
def test_bins_are_counted_however_many_scores_come_at_once(m):
    scores, counter = np.random.default_rng(m).random(90_000), BinCounter(m)
    for batch in np.split(scores, [0, 1, 20_000, 20_500, 70_000]):
        counter.add(batch)
    assert (counter.total() == np.bincount(bin_index(scores, m), minlength=m + 1)[1:]).all()
