"""Figures of the screens that have no trade-off: how good the model is, training, and spending."""

from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from itertools import accumulate

import numpy as np
import plotly.graph_objects as go

from ppsets_core.explore.style import BLUE, FAINT, GREEN, GREY, ORANGE, SEQUENCE, as_text, figure
from ppsets_core.ledger import Account, BudgetChange, Release
from ppsets_core.ledger.amounts import shown
from ppsets_core.model.report import Epoch, ReliabilityBin

_SHADES = [[0, "#EEF5FA"], [1, BLUE]]  # opaque, so that plotly writes in black or white as each cell needs


def confusion_figure(classes: Sequence[str], confusion: np.ndarray) -> go.Figure:
    """Rows are true classes, shaded by their share of the row; the numbers are counts."""
    names = [as_text(name) for name in classes]
    share = confusion / np.maximum(confusion.sum(axis=1, keepdims=True), 1)
    fig = figure("the model says", "true class")
    fig.add_heatmap(
        x=[name.replace("-", "-<br>").replace(" ", "<br>") for name in names],
        y=names,
        z=share,
        zmin=0,
        zmax=1,
        text=confusion,
        texttemplate="%{text:,}",
        colorscale=_SHADES,
        showscale=False,
        hovertemplate="%{y} taken for %{x}: %{text} (%{z:.1%})<extra></extra>",
    )
    fig.update_xaxes(showgrid=False)
    fig.update_yaxes(showgrid=False, autorange="reversed")
    return fig


def reliability_figure(bins: Sequence[ReliabilityBin]) -> go.Figure:
    """Where the model says 80%, is it right 80% of the time? Marks grow with the number of X-rays behind them."""
    fig = figure("probability the model gives", "share that is right")
    fig.add_scatter(x=[0, 1], y=[0, 1], mode="lines", name="ideal", line={"color": GREY, "dash": "dash"})
    largest = max(b.count for b in bins)
    fig.add_scatter(
        x=[b.confidence for b in bins],
        y=[b.accuracy for b in bins],
        mode="markers",
        name="model",
        marker={"color": BLUE, "size": [6 + 18 * (b.count / largest) ** 0.5 for b in bins]},
        customdata=[b.count for b in bins],
        hovertemplate="says %{x:.2f}, right %{y:.2f}, %{customdata} X-rays<extra></extra>",
    )
    fig.update_xaxes(range=[0, 1.02])
    fig.update_yaxes(range=[0, 1.05])
    return fig


def training_figure(epochs: Sequence[Epoch]) -> go.Figure:
    """Loss on the left axis; accuracy and mean recall on the held-out X-rays on the right."""
    fig = figure("epoch", "training loss")
    steps = [e.epoch for e in epochs]
    fig.add_scatter(x=steps, y=[e.loss for e in epochs], mode="lines+markers", name="loss", line={"color": BLUE})
    shares = {
        "held-out accuracy": ("accuracy", GREEN, "dot", "square"),
        "held-out mean recall": ("macro_recall", ORANGE, "dash", "diamond"),
    }
    for name, (field, colour, dash, symbol) in shares.items():
        fig.add_scatter(
            x=steps,
            y=[getattr(e, field) for e in epochs],
            mode="lines+markers",
            name=name,
            yaxis="y2",
            line={"color": colour, "dash": dash},
            marker={"symbol": symbol},
        )
    right = {"overlaying": "y", "side": "right", "tickmode": "linear", "range": [0, 1], "dtick": 0.2}
    fig.update_layout(yaxis2=right | {"tickformat": ".0%", "showgrid": False}, margin={"r": 40})
    fig.update_xaxes(range=[0.5, max(epochs[-1].epochs, 2) + 0.5] if epochs else None)
    return fig


def budget_figure(accounts: Sequence[Account]) -> go.Figure:
    """A bar for each data set: what is spent of its budget and, in blue, what is left."""
    fig = figure("share of the budget", "", height=70 + 34 * len(accounts))
    names = [as_text(account.name) for account in accounts]
    shares = [float(account.left / account.budget) for account in accounts]
    numbers = [f"{shown(account.left)} of {shown(account.budget)} left" for account in accounts]
    for name, x, colour in (("left", shares, BLUE), ("spent", [1 - share for share in shares], FAINT)):
        inside = {"text": numbers, "textposition": "auto"} if name == "left" else {}
        fig.add_bar(x=x, y=names, name=name, orientation="h", marker={"color": colour}, hoverinfo="skip", **inside)
    fig.update_xaxes(range=[0, 1], tickformat=".0%", fixedrange=True)
    fig.update_yaxes(autorange="reversed", fixedrange=True)
    return fig.update_layout(barmode="stack", bargap=0.35, showlegend=False)


def spending(releases: Sequence[Release], budgets: Sequence[BudgetChange], now: datetime | None = None) -> go.Figure:
    """A solid stair of ε spent and a dashed stair of the budget for each data set, both continued to now.

    One line of legend for a data set, below the axis, so that on a narrow window the chart keeps its height."""
    fig = figure("time (UTC)", "ε").update_layout(
        legend={"y": -0.25, "yanchor": "top", "maxheight": 0.3}, margin={"b": 100}
    )
    now = now or datetime.now(UTC)
    for number, name in enumerate(dict.fromkeys(change.account for change in budgets)):
        raised = [(change.time, change.budget) for change in budgets if change.account == name]
        charged = [(release.time, release.epsilon) for release in releases if release.account == name]
        spent = accumulate((amount for _, amount in charged), initial=Decimal(0))
        times = [raised[0][0], *(time for time, _ in charged)]
        stairs = {"spent": ("solid", list(zip(times, spent, strict=True))), "budget": ("dash", raised)}
        for what, (dash, stair) in stairs.items():
            # times never run backwards on the axis, even if the clock was set back between two entries
            x = list(accumulate((datetime.fromisoformat(time) for time, _ in stair), max))
            y = [float(amount) for _, amount in stair]
            fig.add_scatter(
                x=[*x, max(now, x[-1])],
                y=[*y, y[-1]],
                mode="lines+markers",
                name=f"{as_text(name)}, {what}",
                showlegend=what == "spent",
                line={"color": SEQUENCE[number % len(SEQUENCE)], "dash": dash, "width": 2, "shape": "hv"},
            )
    return fig.update_yaxes(rangemode="tozero")
