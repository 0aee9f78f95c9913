"""Coverage and set size over random splits: along a sweep, and as histograms at one of its points."""

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go

from ppsets_core.explore.figures.style import GREEN, Look, faded, figure, line_at, look_of
from ppsets_core.explore.outcomes import Histogram, Series, Trend, histogram, size_shares, trends
from ppsets_core.explore.sweeps import Sweep
from ppsets_core.method.simulate import SplitResult

AXES = {"epsilon": "privacy loss ε", "m": "bins m", "n": "calibration records n"}
QUANTITIES = {"coverage": "coverage", "mean_size": "mean set size"}


def sweep_figure(sweep: Sweep, quantity: str) -> go.Figure:
    """Means with a band that holds nine splits in ten; hollow marks where there are too few records."""
    drawn = figure(AXES[sweep.over], QUANTITIES[quantity])
    for name, trend in trends(sweep, quantity).items():
        look = look_of(name)
        _add_band(drawn, sweep.values, trend, look)
        _add_legend(drawn, look)
        _add_mean(drawn, sweep.values, trend, look)
    if quantity == "coverage":
        alpha = next(iter(sweep.results.values()))[0].plan.alpha
        _add_goal(drawn, sweep.values, 1 - alpha)
    drawn.update_xaxes(type="log", tickvals=sweep.values, ticktext=[f"{value:,g}" for value in sweep.values])
    return drawn


def _add_mean(drawn: go.Figure, values: tuple[float, ...], trend: Trend, look: Look) -> None:
    drawn.add_scatter(
        x=values,
        y=trend.mean,
        mode="lines+markers",
        name=look.name,
        legendgroup=look.name,
        showlegend=False,
        line={"color": look.colour, "dash": look.dash},
        marker={"symbol": [f"{look.symbol}-open" if t else look.symbol for t in trend.trivial], "size": 8},
    )


def _add_legend(drawn: go.Figure, look: Look) -> None:
    """A legend takes the first point's mark, which may be the hollow one that means too few records."""
    drawn.add_scatter(
        x=[None],
        y=[None],
        mode="lines+markers",
        name=look.name,
        legendgroup=look.name,
        line={"color": look.colour, "dash": look.dash},
        marker={"symbol": look.symbol, "size": 8},
    )


def _add_band(drawn: go.Figure, values: tuple[float, ...], trend: Trend, look: Look) -> None:
    drawn.add_scatter(
        x=[*values, *values[::-1]],
        y=[*trend.high, *trend.low[::-1]],
        mode="lines",
        fill="toself",
        fillcolor=faded(look.colour, 0.15),
        line={"width": 0},
        legendgroup=look.name,
        showlegend=False,
        hoverinfo="skip",
    )


def _add_goal(drawn: go.Figure, values: tuple[float, ...], goal: float) -> None:
    ends = [min(values), max(values)]
    line = {"color": GREEN, "dash": "longdash", "width": 2}
    drawn.add_scatter(x=ends, y=[goal, goal], mode="lines", name="asked for", line=line)


def histogram_figure(results: Mapping[str, SplitResult], quantity: str) -> go.Figure:
    """How the splits differ, for each rule and without privacy."""
    counted = histogram(results, quantity)
    looks = {name: look_of(name) for name in counted.share}
    return stairs_figure(counted, looks, quantity, next(iter(results.values())).plan.alpha)


def stairs_figure(
    counted: Histogram[Series], looks: Mapping[Series, Look], quantity: str, alpha: float, height: int = 320
) -> go.Figure:
    """The share of splits at each coverage or mean set size, counted beforehand."""
    drawn = figure(f"{QUANTITIES[quantity]} in a split", "share of splits", height=height)
    for series, look in looks.items():
        share = counted.share[series]
        drawn.add_scatter(
            x=counted.edges,
            y=np.append(share, share[-1:]),
            mode="lines",
            name=look.name,
            line={"color": look.colour, "dash": look.dash, "shape": "hv", "width": 2},
            fill="tozeroy",
            fillcolor=faded(look.colour, 0.15),
        )
    if quantity == "coverage":
        highest = max(float(share.max()) for share in counted.share.values())
        line_at(drawn, 1 - alpha, GREEN, "longdash", "asked for", highest)
    drawn.update_yaxes(tickformat=".0%", rangemode="tozero")
    return drawn


def size_figure(results: Mapping[str, SplitResult]) -> go.Figure:
    """The share of sets with no, one, two, … classes."""
    drawn = figure("diagnoses in the set", "share of sets", height=320)
    for name, shares in size_shares(results).items():
        look = look_of(name)
        drawn.add_bar(
            x=list(range(len(shares))),
            y=shares,
            name=look.name,
            marker={"color": look.colour, "pattern": {"shape": look.pattern, "fillmode": "overlay"}},
        )
    drawn.update_xaxes(dtick=1)
    drawn.update_yaxes(tickformat=".0%")
    return drawn
