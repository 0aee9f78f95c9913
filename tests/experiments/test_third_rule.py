"""A third rule, registered and nothing else, is in every experiment's tables, sentences, numbers and figures."""

import pytest

from ppsets_core.data.bundled import bundled_scores
from ppsets_core.experiments import audit, bins, coronahack, epsilons, levels, two_by_two
from ppsets_core.experiments.findings import Source
from ppsets_core.explore.labelled import Labelled
from ppsets_core.method.rules import RULES
from tests.explore.third_rule import ThirdRule


@pytest.fixture(autouse=True)
def third_rule(monkeypatch):
    monkeypatch.setitem(RULES, ThirdRule.name, ThirdRule())


def source() -> Source:
    return Source("CoronaHack", Labelled.of(bundled_scores()), 1000, splits=2)


@pytest.mark.parametrize(
    ("experiment", "options"),
    [
        (levels, {"ns": (500, 1000), "epsilons": (1.0, 2.0)}),
        (coronahack, {"splits": 2}),
        (two_by_two, {"splits": 2}),
        (bins, {"bins": (1000,), "of": "source"}),
        (epsilons, {"epsilons": (1.0, 2.0), "of": "source"}),
    ],
    ids=["levels", "coronahack", "two-by-two", "bins", "epsilons"],
)
def test_a_third_rule_is_told_and_drawn(experiment, options):
    if "of" in options:
        options = {**options, "of": [source()]}
    result = experiment.run(**options)
    found = experiment.findings(result)
    assert "third rule" in str(found.tables)
    assert "third rule" in " ".join(found.sentences)
    assert '"third"' in found.as_json("")
    drawn = experiment.figures(result)
    assert any("third" in f"{title} {[trace.name for trace in figure.data]}" for title, figure in drawn.items())


def test_a_third_rule_is_audited(monkeypatch):
    monkeypatch.setattr(audit, "LARGE", ((300, 2.0),))
    result = audit.run(draws=20)
    assert {loss.rule for loss in result[0]} == {*RULES, audit.RESEARCH}
    assert "third rule" in str(audit.findings(result).tables)
    (drawn,) = audit.figures(result).values()
    assert "third rule" in {trace.name for trace in drawn.data}
