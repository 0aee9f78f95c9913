"""Figures are checked by what they draw."""

import numpy as np
import pytest

from ppsets_core import nonprivate_threshold, plan
from ppsets_core.explore.figures import confusion_figure, reliability_figure, softmax_figure, training_figure
from ppsets_core.explore.labelled import simulated_records
from ppsets_core.explore.level_curves import level_curves, level_figure, records_needed, records_needed_figure
from ppsets_core.explore.release_view import release_figure, release_view
from ppsets_core.explore.style import GREEN, NONPRIVATE, look_of
from ppsets_core.explore.sweeps import histogram_figure, outcomes_of, size_figure, sweep, sweep_figure, trends
from ppsets_core.method.rules import RULES
from ppsets_core.model.recipe import Epoch
from ppsets_core.model.report import report
from tests.explore.third_rule import ThirdRule

RECORDS = simulated_records(600, 3, 1.5, np.random.default_rng(0))


@pytest.fixture(scope="module")
def swept():
    return sweep(RECORDS, "epsilon", [0.01, 1.0, 4.0], 30, np.random.default_rng(1), alpha=0.1, n=400)


def traces(figure):
    return {trace.name: trace for trace in figure.data if trace.name}


def test_levels_are_drawn_up_to_one_with_the_non_private_dashed():
    curves = level_curves("n", [100, 1000], [0.1, 1.0], 0.1)
    drawn = traces(level_figure(curves))
    assert set(drawn) == {f"{m}, ε = {e}" for m in RULES for e in ("0.1", "1")} | {"without privacy"}
    assert drawn["paper, ε = 0.1"].y[0] == 1.0
    assert drawn["sharp, ε = 1"].y[1] == plan(1000, 0.1, 1.0, method="sharp").level
    assert drawn["without privacy"].line.dash == "dash"
    assert drawn["paper, ε = 1"].line.color == drawn["sharp, ε = 1"].line.color
    assert drawn["paper, ε = 1"].line.dash != drawn["sharp, ε = 1"].line.dash


def test_records_needed():
    needed = records_needed([0.1, 1.0], 0.1)
    drawn = traces(records_needed_figure([0.1, 1.0], needed))
    assert list(drawn["sharp rule"].y) == list(needed["sharp"])


@pytest.mark.parametrize("quantity", ["coverage", "mean_size"])
def test_sweep_means_bands_and_hollow_trivial_marks(swept, quantity):
    figure = sweep_figure(swept, quantity)
    drawn = traces(figure)
    found = trends(swept, quantity)["paper"]
    assert list(drawn["paper's rule"].y) == list(found.mean)
    assert list(drawn["paper's rule"].x) == [0.01, 1.0, 4.0]
    assert list(drawn["paper's rule"].marker.symbol) == ["circle-open", "circle", "circle"]
    (named,) = [t for t in figure.data if t.name == "paper's rule" and t.showlegend is not False]
    assert named.marker.symbol == "circle", "the legend never shows the mark that means too few records"
    bands = [t for t in figure.data if t.fill == "toself" and t.legendgroup == "paper's rule"]
    assert list(bands[0].y) == [*found.high, *found.low[::-1]]
    assert ("asked for" in drawn) == (quantity == "coverage")


def test_histogram_is_counted_beforehand(swept):
    drawn = traces(histogram_figure(outcomes_of(swept.at(4.0)), "coverage", 0.1))
    assert sum(drawn["sharp rule"].y[:-1]) == pytest.approx(1)
    edges = drawn["sharp rule"].x
    assert 10 < len(edges) <= 26
    evaluated = swept.at(4.0)["sharp"].private.size_counts[0].sum()
    values_per_bin = np.diff(edges) * evaluated
    assert values_per_bin == pytest.approx(np.rint(values_per_bin[0]))
    assert list(drawn["asked for"].x) == [0.9, 0.9]


def test_set_sizes(swept):
    drawn = traces(size_figure(swept.at(0.01)))
    assert list(drawn["paper's rule"].y) == [0, 0, 0, 1]
    assert list(drawn["paper's rule"].x) == [0, 1, 2, 3]


def test_release_with_its_draws_and_the_non_private_quantile():
    scores = np.random.default_rng(0).random(300)
    view = release_view(scores, plan(300, 0.1, 3.0))
    drawn = traces(release_figure(view, [0.91, 0.92, 0.95]))
    assert sum(drawn["probability of ŝ"].y) == pytest.approx(1, abs=1e-3)
    assert drawn["without privacy"].x[0] == nonprivate_threshold(scores, 0.1)
    assert drawn["ŝ, simulated"].x[0] == 0.95
    assert list(drawn["earlier draws"].x) == [0.91, 0.92]
    assert "ŝ, simulated" not in traces(release_figure(view))


def test_softmax_bars_are_ranked_and_those_in_the_set_green():
    figure = softmax_figure(["a", "b", "c"], np.array([0.2, 0.5, 0.3]), [0.75] * 3)
    bars = figure.data[0]
    assert list(bars.customdata) == ["b", "c", "a"]
    assert list(bars.x) == [0.5, 0.3, 0.2]
    assert [colour == GREEN for colour in bars.marker.color] == [True, True, False]
    assert [(mark.x0, mark.x1) for mark in figure.layout.shapes] == [(0.25, 0.25)] * 3
    texts = [annotation.text for annotation in figure.layout.annotations]
    assert texts == ["<b>b</b>", "0.500", "<b>c</b>", "0.300", "a", "0.200", "cutoff 0.25"]


def test_names_are_text_and_never_markup():
    figure = softmax_figure(["<i>x</i>", "$y$"], np.array([0.6, 0.4]), [0.5] * 2)
    assert list(figure.data[0].customdata) == ["&lt;i&gt;x&lt;/i&gt;", "&#36;y&#36;"]
    assert not any("<i>" in annotation.text for annotation in figure.layout.annotations)


def test_confusion_shows_counts_and_shades_shares():
    drawn = confusion_figure(["a", "b"], np.array([[3, 1], [0, 6]])).data[0]
    assert np.asarray(drawn.text).tolist() == [[3, 1], [0, 6]]
    assert np.asarray(drawn.z).tolist() == [[0.75, 0.25], [0, 1]]


def test_reliability_marks_what_was_said_and_what_was_right():
    bins = report(RECORDS.probabilities, RECORDS.labels).reliability
    drawn = traces(reliability_figure(bins))
    assert list(drawn["model"].x) == [b.confidence for b in bins]
    assert list(drawn["model"].y) == [b.accuracy for b in bins]
    assert list(drawn["ideal"].x) == list(drawn["ideal"].y)


def test_training_loss_and_held_out_shares():
    epochs = [Epoch(1, 10, 1.2, 0.4, 0.3), Epoch(2, 10, 0.9, 0.6, 0.5)]
    figure = training_figure(epochs)
    drawn = traces(figure)
    assert list(drawn["loss"].y) == [1.2, 0.9]
    assert list(drawn["held-out accuracy"].y) == [0.4, 0.6]
    assert drawn["held-out mean recall"].yaxis == "y2"
    assert figure.layout.xaxis.range[1] == 10.5
    assert len(training_figure([]).data) == 3


@pytest.fixture
def third_rule(monkeypatch):
    monkeypatch.setitem(RULES, ThirdRule.name, ThirdRule())


def test_every_rule_is_told_apart_by_colour_dash_and_symbol_and_a_third_one_too(third_rule):
    looks = [look_of(name) for name in (*RULES, NONPRIVATE)]
    for told_by in ("name", "colour", "dash", "symbol", "pattern"):
        assert len({getattr(look, told_by) for look in looks}) == 4, told_by


def test_a_third_rule_is_drawn_in_its_own_look(third_rule):
    swept = sweep(RECORDS, "epsilon", [4.0], 5, np.random.default_rng(1), alpha=0.1, n=400)
    at, look = swept.at(4.0), look_of(ThirdRule.name)
    for drawn in (sweep_figure(swept, "coverage"), histogram_figure(outcomes_of(at), "coverage", 0.1)):
        line = traces(drawn)["third rule"].line
        assert (line.color, line.dash) == (look.colour, look.dash)
    assert traces(size_figure(at))["third rule"].marker.color == look.colour
    assert traces(records_needed_figure([1.0], records_needed([1.0], 0.1)))["third rule"].marker.symbol == look.symbol
    assert traces(level_figure(level_curves("n", [1000], [1.0], 0.1)))["third, ε = 1"].line.dash == look.dash


def test_the_same_line_style_in_the_figure_and_in_words():
    assert {look_of(name).stroke for name in (*RULES, NONPRIVATE)} == {"dotted", "solid", "dashed"}
