"""Coverage and set size over random splits: along a sweep, and as histograms at one of its points."""

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go

from ppsets_core.figures.style import COLOURS, DASHES, GREEN, NAMES, SYMBOLS, faded, figure, line_at
from ppsets_core.simulation import SplitResult
from ppsets_core.tradeoffs.outcomes import Trend, histogram, size_shares, trends
from ppsets_core.tradeoffs.sweeps import Sweep

AXES = {"epsilon": "privacy loss ε", "m": "bins m", "n": "calibration records n"}
QUANTITIES = {"coverage": "coverage", "mean_size": "mean set size"}


def sweep_figure(sweep: Sweep, quantity: str) -> go.Figure:
    """Means with a band that holds nine splits in ten; hollow marks where there are too few records."""
    drawn = figure(AXES[sweep.over], QUANTITIES[quantity])
    for name, trend in trends(sweep, quantity).items():
        _add_band(drawn, sweep.values, trend, name)
        _add_mean(drawn, sweep.values, trend, name)
    if quantity == "coverage":
        alpha = next(iter(sweep.results.values()))[0].plan.alpha
        _add_goal(drawn, sweep.values, 1 - alpha)
    drawn.update_xaxes(type="log", tickvals=sweep.values, ticktext=[f"{value:,g}" for value in sweep.values])
    return drawn


def _add_mean(drawn: go.Figure, values: tuple[float, ...], trend: Trend, name: str) -> None:
    shape = SYMBOLS[name]
    drawn.add_scatter(
        x=values,
        y=trend.mean,
        mode="lines+markers",
        name=NAMES[name],
        legendgroup=name,
        line={"color": COLOURS[name], "dash": DASHES[name]},
        marker={"symbol": [f"{shape}-open" if t else shape for t in trend.trivial], "size": 8},
    )


def _add_band(drawn: go.Figure, values: tuple[float, ...], trend: Trend, name: str) -> None:
    drawn.add_scatter(
        x=[*values, *values[::-1]],
        y=[*trend.high, *trend.low[::-1]],
        mode="lines",
        fill="toself",
        fillcolor=faded(COLOURS[name], 0.15),
        line={"width": 0},
        legendgroup=name,
        showlegend=False,
        hoverinfo="skip",
    )


def _add_goal(drawn: go.Figure, values: tuple[float, ...], goal: float) -> None:
    ends = [min(values), max(values)]
    line = {"color": GREEN, "dash": "longdash", "width": 2}
    drawn.add_scatter(x=ends, y=[goal, goal], mode="lines", name="asked for", line=line)


def histogram_figure(results: Mapping[str, SplitResult], quantity: str) -> go.Figure:
    """How the splits differ: the share of splits at each coverage or mean set size, counted beforehand."""
    drawn = figure(f"{QUANTITIES[quantity]} in a split", "share of splits", height=320)
    counted = histogram(results, quantity)
    for name, share in counted.share.items():
        drawn.add_scatter(
            x=counted.edges,
            y=np.append(share, share[-1:]),
            mode="lines",
            name=NAMES[name],
            line={"color": COLOURS[name], "dash": DASHES[name], "shape": "hv", "width": 2},
            fill="tozeroy",
            fillcolor=faded(COLOURS[name], 0.15),
        )
    if quantity == "coverage":
        goal = 1 - next(iter(results.values())).plan.alpha
        line_at(drawn, goal, GREEN, "longdash", "asked for", max(s.max() for s in counted.share.values()))
    drawn.update_yaxes(tickformat=".0%", rangemode="tozero")
    return drawn


def size_figure(results: Mapping[str, SplitResult]) -> go.Figure:
    """The share of sets with no, one, two, … classes."""
    drawn = figure("diagnoses in the set", "share of sets", height=320)
    patterns = {"paper": "", "sharp": "/", "nonprivate": "."}
    for name, shares in size_shares(results).items():
        drawn.add_bar(
            x=list(range(len(shares))),
            y=shares,
            name=NAMES[name],
            marker={"color": COLOURS[name], "pattern": {"shape": patterns[name], "fillmode": "overlay"}},
        )
    drawn.update_xaxes(dtick=1)
    drawn.update_yaxes(tickformat=".0%")
    return drawn
