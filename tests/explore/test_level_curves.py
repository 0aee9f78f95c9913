import numpy as np
import pytest

from ppsets_core import plan, smallest_n
from ppsets_core.explore.level_curves import level_curves, records_needed
from ppsets_core.method.rules import RULES


def test_levels_over_n_are_the_plans_levels():
    found = level_curves("n", [200, 1000], [0.5, 2.0], 0.1)
    assert found.over == "n"
    by_key = {(c.method, c.fixed): c.level for c in found.curves}
    assert set(by_key) == {(m, e) for m in RULES for e in (0.5, 2.0)} | {("nonprivate", None)}
    assert by_key["sharp", 2.0][1] == plan(1000, 0.1, 2.0, method="sharp").level
    trivial = plan(200, 0.1, 0.5, method="paper")
    assert by_key["paper", 0.5][0] == trivial.level > 1  # told as it is
    assert by_key["nonprivate", None].tolist() == [181 / 200, 901 / 1000]


def test_levels_over_epsilon_fall_towards_the_non_private_one():
    found = level_curves("epsilon", [0.5, 1.0, 10.0], [1000], 0.1, methods=["sharp"])
    private, nonprivate = found.curves
    assert (private.fixed, nonprivate.method) == (1000, "nonprivate")
    assert np.all(np.diff(private.level) < 0)
    assert np.all(private.level > nonprivate.level)


def test_records_needed():
    found = records_needed([0.1, 1.0], 0.1)
    assert found["sharp"] == [smallest_n(0.1, e, "sharp") for e in (0.1, 1.0)]
    assert all(s < p for s, p in zip(found["sharp"], found["paper"], strict=True))


@pytest.mark.parametrize("over", ["n", "epsilon"])
def test_only_the_rules_asked_for(over):
    assert {c.method for c in level_curves(over, [500], [1000], 0.2, methods=["paper"]).curves} == {
        "paper",
        "nonprivate",
    }
