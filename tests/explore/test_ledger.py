"""Spending over time: the stairs are the ledger's numbers."""

from datetime import UTC, datetime
from decimal import Decimal

from ppsets_core.explore.figures import spending
from ppsets_core.ledger import BudgetChange, Release

NOW = datetime(2026, 1, 5, tzinfo=UTC)


def at(day: int) -> str:
    return f"2026-01-0{day}T00:00:00+00:00"


def day(number: int) -> datetime:
    return datetime(2026, 1, number, tzinfo=UTC)


def test_stairs_add_up_what_was_spent_and_follow_the_budget():
    budgets = [BudgetChange("a", Decimal(1), at(1)), BudgetChange("<b>", Decimal(5), at(2))]
    budgets.append(BudgetChange("a", Decimal(3), at(3)))
    releases = [Release(i, "a", Decimal("0.1"), at(i + 1), None) for i in (1, 2)]
    spent, budget, other, _ = spending(releases, budgets, NOW).data
    assert (spent.name, list(spent.y)) == ("a, spent", [0, 0.1, 0.2, 0.2])
    assert list(spent.x) == [day(1), day(2), day(3), NOW]
    assert (list(budget.x), list(budget.y)) == ([day(1), day(3), NOW], [1, 3, 3])
    assert (other.name, list(other.y)) == ("&lt;b&gt;, spent", [0, 0])
    assert spent.line.shape == "hv"
    assert spent.line.color == budget.line.color != other.line.color


def test_time_never_runs_backwards():
    releases = [Release(1, "a", Decimal(1), at(4), None), Release(2, "a", Decimal(1), at(2), None)]
    spent = spending(releases, [BudgetChange("a", Decimal(3), at(3))], day(1)).data[0]
    assert list(spent.x) == [day(3), day(4), day(4), day(4)]
    assert list(spent.y) == [0, 1, 2, 2]
