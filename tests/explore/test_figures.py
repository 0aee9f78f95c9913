"""Figures of the other screens, what all figures share, and figures as a page and as CSV."""

import csv
import io
import re
from datetime import UTC, datetime
from decimal import Decimal

import numpy as np

from ppsets_core.explore import NONPRIVATE
from ppsets_core.explore.figures import (
    confusion_figure,
    reliability_figure,
    spending,
    training_figure,
)
from ppsets_core.explore.labelled import simulated_records
from ppsets_core.explore.level_curves import level_curves, level_figure
from ppsets_core.explore.page import csv_of_rows, numbers_of, whole_page
from ppsets_core.explore.style import look_of
from ppsets_core.ledger import BudgetChange, Release
from ppsets_core.method.rules import RULES
from ppsets_core.model.report import Epoch, report
from tests.explore.test_trade_offs import traces
from tests.explore.third_rule import ThirdRule

LEVELS = level_figure(level_curves("n", (300, 1000), (1.0,), 0.1))


def test_confusion_shows_counts_and_shades_shares():
    drawn = confusion_figure(["a", "b"], np.array([[3, 1], [0, 6]])).data[0]
    assert np.asarray(drawn.text).tolist() == [[3, 1], [0, 6]]
    assert np.asarray(drawn.z).tolist() == [[0.75, 0.25], [0, 1]]


def test_reliability_marks_what_was_said_and_what_was_right():
    records = simulated_records(600, 3, 1.5, np.random.default_rng(0))
    bins = report(records.probabilities, records.labels).reliability
    drawn = traces(reliability_figure(bins))
    assert list(drawn["model"].x) == [b.confidence for b in bins]
    assert list(drawn["model"].y) == [b.accuracy for b in bins]
    assert list(drawn["ideal"].x) == list(drawn["ideal"].y)


def test_training_loss_and_held_out_shares():
    figure = training_figure([Epoch(1, 10, 1.2, 0.4, 0.3), Epoch(2, 10, 0.9, 0.6, 0.5)])
    drawn = traces(figure)
    assert list(drawn["loss"].y) == [1.2, 0.9]
    assert list(drawn["held-out accuracy"].y) == [0.4, 0.6]
    assert drawn["held-out mean recall"].yaxis == "y2"
    assert figure.layout.xaxis.range[1] == 10.5
    assert len(training_figure([]).data) == 3


def day(number: int) -> datetime:
    return datetime(2026, 1, number, tzinfo=UTC)


def at(number: int) -> str:
    return day(number).isoformat()


def test_spending_adds_up_and_follows_the_budget():
    budgets = [BudgetChange("a", Decimal(1), time=at(1)), BudgetChange("<b>", Decimal(5), time=at(2))]
    budgets.append(BudgetChange("a", Decimal(3), time=at(3)))
    releases = [Release(i, "a", Decimal("0.1"), time=at(i + 1)) for i in (1, 2)]
    spent, budget, other, _ = spending(releases, budgets, day(5)).data
    assert (spent.name, list(spent.y)) == ("a, spent", [0, 0.1, 0.2, 0.2])
    assert list(spent.x) == [day(1), day(2), day(3), day(5)]
    assert (list(budget.x), list(budget.y)) == ([day(1), day(3), day(5)], [1, 3, 3])
    assert (other.name, list(other.y)) == ("&lt;b&gt;, spent", [0, 0])
    assert spent.line.shape == "hv"
    assert spent.line.color == budget.line.color != other.line.color


def test_time_never_runs_backwards():
    releases = [Release(number, "a", Decimal(1), time=at(day)) for number, day in ((1, 4), (2, 2))]
    spent = spending(releases, [BudgetChange("a", Decimal(3), time=at(3))], day(1)).data[0]
    assert list(spent.x) == [day(3), day(4), day(4), day(4)]
    assert list(spent.y) == [0, 1, 2, 2]


def test_every_rule_is_told_apart_by_more_than_colour_and_a_third_one_too(monkeypatch):
    assert {look_of(name).stroke for name in (*RULES, NONPRIVATE)} == {"dotted", "solid", "dashed"}
    monkeypatch.setitem(RULES, ThirdRule.name, ThirdRule())
    looks = [look_of(name) for name in (*RULES, NONPRIVATE)]
    for told_by in ("name", "colour", "dash", "symbol", "pattern"):
        assert len({getattr(look, told_by) for look in looks}) == 4, told_by


def test_every_point_of_every_line_is_a_row_of_the_csv():
    rows = numbers_of({"Levels": LEVELS})
    assert len(rows) == sum(len(trace.x) for trace in LEVELS.data)
    assert {row["figure"] for row in rows} == {"Levels"}
    first = LEVELS.data[0]
    assert [(row["x"], row["y"]) for row in rows[: len(first.x)]] == list(zip(first.x, first.y, strict=True))
    read = list(csv.DictReader(io.StringIO(csv_of_rows(rows))))
    assert [float(row["y"]) for row in read] == [float(row["y"]) for row in rows]


def test_cells_run_nowhere():
    (row,) = csv.DictReader(io.StringIO(csv_of_rows([{"=name": "=1+1", "x": -0.5, "none": None}])))
    assert row == {"'=name": "'=1+1", "x": "-0.5", "none": ""}
    assert csv_of_rows([]) == ""


def test_the_page_needs_no_network_and_its_titles_are_text():
    page = whole_page("<b>odd</b>", {"<i>": LEVELS})
    assert "<b>odd" not in page
    assert "<i>" not in page.partition("</script>")[2].split("<div>")[0]
    assert not re.search(r"<(script|link|img)[^>]*\s(src|href)=", page)
    assert len(page) > 1_000_000, "plotly's script is inside"
