"""Spending over time: each data set's ε as it adds up, below its budget as it was set and raised."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import plotly.graph_objects as go

from ppsets_core.explore.figures.style import SEQUENCE, as_text, figure
from ppsets_core.ledger import BudgetChange, Release
from ppsets_core.ledger.amounts import total


def spending(releases: Sequence[Release], budgets: Sequence[BudgetChange], now: datetime | None = None) -> go.Figure:
    """A solid stair of ε spent and a dashed stair of the budget for each data set, both drawn on to now.

    One line of legend for a data set, below the axis, so that on a narrow window the chart keeps its height."""
    drawn = figure("time (UTC)", "ε").update_layout(
        legend={"y": -0.25, "yanchor": "top", "maxheight": 0.3}, margin={"b": 100}
    )
    now = now or datetime.now(UTC)
    for number, name in enumerate(dict.fromkeys(change.account for change in budgets)):
        colour = SEQUENCE[number % len(SEQUENCE)]
        raised = [(_time(change.time), float(change.budget)) for change in budgets if change.account == name]
        charged = [release for release in releases if release.account == name]
        spent = [(raised[0][0], 0.0)] + [
            (_time(release.time), float(total(each.epsilon for each in charged[: done + 1])))
            for done, release in enumerate(charged)
        ]
        for stair, what, dash in ((spent, "spent", "solid"), (raised, "budget", "dash")):
            line = {"color": colour, "dash": dash, "width": 2}
            _add_stair(drawn, stair, now, f"{as_text(name)}, {what}", line, named=what == "spent")
    return drawn.update_yaxes(rangemode="tozero")


def _add_stair(
    drawn: go.Figure, stair: list[tuple[datetime, float]], now: datetime, name: str, line: dict[str, Any], named: bool
) -> None:
    """Times never run backwards on the axis, even if the clock was set back between two entries."""
    times, last = [], stair[0][0]
    for time, _ in stair:
        last = max(last, time)
        times.append(last)
    amounts = [amount for _, amount in stair]
    x, y = [*times, max(now, last)], [*amounts, amounts[-1]]
    look = {"line": {**line, "shape": "hv"}, "mode": "lines+markers"}
    drawn.add_scatter(x=x, y=y, name=name, showlegend=named, **look)


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)
