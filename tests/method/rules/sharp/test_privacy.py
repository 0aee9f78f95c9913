"""Privacy per diagnosis, by enumeration: replacing a record, its label too, changes the law by at most ε."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from ppsets_core.method.rules.sharp.class_ranks import class_ranks
from tests.method.rules.enumeration import data_sets, integers_of_counts, law_of_counts, neighbours

EPSILONS = (0.5, 1.0, 3.3, 8.0)
HALF = Fraction(1, 2)  # of ε, for each diagnosis


def joint_loss(n: int, m: int, classes: int, changes) -> Fraction | float:
    """The largest loss of all thresholds together over all labelled data sets and replacements, labels included.

    `changes` gives the loss of one class's threshold between two counts of its bins; classes are drawn apart, so the
    losses of the at most two that change add up.
    """
    worst = 0
    cells = data_sets(n, m * classes)
    for one, other in neighbours(n, m * classes).T:
        parts = zip(cells[one].reshape(classes, m), cells[other].reshape(classes, m), strict=True)
        worst = max(worst, sum(changes(tuple(a.tolist()), tuple(b.tolist())) for a, b in parts if (a != b).any()))
    return worst


def float_changes(rank_of, epsilon: float):
    laws: dict = {}

    def law(counts):
        if counts not in laws:
            laws[counts] = np.log(law_of_counts(np.array(counts), rank_of(sum(counts)), epsilon, HALF))
        return laws[counts]

    return lambda a, b: np.abs(law(a) - law(b)).max()


def exact_changes(rank_of, epsilon: float):
    """The loss bound of the integers that go to OpenDP, in rational arithmetic: range of the changes over the scale."""
    kept: dict = {}
    scales = [0.0]

    def integers(counts):
        if counts not in kept:
            kept[counts], scales[0] = integers_of_counts(np.array(counts), rank_of(sum(counts)), epsilon, HALF)
        return kept[counts]

    def change(a, b):
        difference = integers(b) - integers(a)
        assert difference.dtype == np.int64
        return Fraction(int(difference.max() - difference.min())) / Fraction(scales[0])

    return change


LARGER = [(4, 3, 2), (4, 2, 3), (3, 3, 3), (3, 5, 2)]
LABELLED = [
    (1, 3, 2),
    (2, 2, 3),
    (6, 2, 2),
    *(pytest.param(*one, marks=pytest.mark.statistical) for one in LARGER),
]


@pytest.mark.parametrize(("n", "m", "classes"), LABELLED)
@pytest.mark.parametrize("alpha", [0.1, 0.3, 0.5])
def test_joint_loss_per_diagnosis_is_at_most_epsilon(n, m, classes, alpha):
    for epsilon in EPSILONS:
        ranks = class_ranks(n, alpha, epsilon / 2, m)
        loss = joint_loss(n, m, classes, float_changes(ranks.rank, epsilon))
        assert loss <= epsilon * (1 + 1e-12)
        exact = joint_loss(n, m, classes, exact_changes(ranks.rank, epsilon))
        assert exact <= Fraction(Decimal(repr(epsilon)))
        assert loss <= exact * (1 + 1e-12)


def test_joint_loss_uses_much_of_its_epsilon():
    ranks = class_ranks(6, 0.5, 2.0, 2)
    assert joint_loss(6, 2, 2, float_changes(ranks.rank, 4.0)) >= 0.6 * 4


@pytest.mark.parametrize("ranks", [[1, 1, 2, 4, 4], [3, 3, 2, 2, 3], [5, 4, 3, 2, 1], [1, 3, 5, 7, 9]])
def test_steps_of_2_or_falls_break_the_promise(ranks):
    """The audit notices: with such ranks the integers' changes spread too far."""
    assert joint_loss(4, 3, 2, exact_changes(ranks.__getitem__, 2.0)) > 2


@pytest.mark.parametrize("ranks", [[5, 4, 3, 2, 1], [1, 3, 5, 7, 9]])
def test_the_real_loss_exceeds_epsilon_then(ranks):
    assert joint_loss(4, 3, 2, float_changes(ranks.__getitem__, 2.0)) > 2 * 1.2
