"""One look for every figure: Okabe–Ito colours on a clear background, readable on light and dark, from 400 px."""

import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from ppsets_core.explore import NONPRIVATE, label_of
from ppsets_core.method.rules import RULES

ORANGE, SKY, GREEN, BLUE, VERMILLION, PURPLE = "#E69F00", "#56B4E9", "#009E73", "#0072B2", "#D55E00", "#CC79A7"
GREY = "#808080"
FAINT = "rgba(128, 128, 128, 0.25)"
SEQUENCE = (BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILLION)
GOAL = {"color": GREEN, "dash": "longdash", "width": 2}
AXES = {"epsilon": "privacy loss ε", "alpha": "allowed miss rate α", "m": "bins m", "n": "calibration records n"}


@dataclass(frozen=True)
class Look:
    """How one series is drawn in every figure, distinguished by more than colour; `name` is for the legend."""

    name: str
    colour: str
    dash: str
    symbol: str
    pattern: str = ""

    @property
    def stroke(self) -> str:
        """What a caption calls its line: "solid", "dotted"."""
        return {"dot": "dotted", "dash": "dashed", "dashdot": "dash-dotted"}.get(self.dash, self.dash)

    @property
    def line(self) -> dict[str, Any]:
        return {"color": self.colour, "dash": self.dash}


_LOOKS = (
    (BLUE, "solid", "circle", ""),
    (VERMILLION, "dot", "diamond", "/"),
    (PURPLE, "dashdot", "square", "x"),
    (ORANGE, "longdash", "triangle-up", "\\"),
    (SKY, "longdashdot", "star", "-"),
)


def look_of(series: str) -> Look:
    """The look of a rule, by its place among the rules; of calibration without privacy; of a new name."""
    if series == NONPRIVATE:
        return Look(label_of(series), GREY, "dash", "x", ".")
    place = list(RULES).index(series) if series in RULES else len(RULES)
    return Look(label_of(series) if series in RULES else series, *_LOOKS[place % len(_LOOKS)])


_AXIS = {"gridcolor": FAINT, "linecolor": GREY, "zeroline": False}
_CLEAR = "rgba(0,0,0,0)"
_TEMPLATE = go.layout.Template(
    layout={"paper_bgcolor": _CLEAR, "plot_bgcolor": _CLEAR, "colorway": SEQUENCE, "xaxis": _AXIS, "yaxis": _AXIS}
)


def figure(x: str, y: str, *, height: int = 360) -> go.Figure:
    """An empty figure with axis titles. No title: the heading above it says what it shows, at any width."""
    return go.Figure(
        layout={
            "template": _TEMPLATE,
            "height": height,
            "margin": {"l": 60, "r": 16, "t": 24, "b": 48},
            "xaxis": {"title": {"text": x}, "automargin": True},
            "yaxis": {"title": {"text": y}, "automargin": True},
            "legend": {"orientation": "h", "yanchor": "bottom", "y": 1.02, "xanchor": "left", "x": 0},
            "hoverlabel": {"namelength": -1},
        }
    )


def add_line(
    fig: go.Figure,
    x: Iterable[Any],
    y: Iterable[Any],
    look: Look,
    *,
    hollow: Iterable[bool] = (),
    size: int = 8,
    **options: Any,
) -> None:
    """A line with marks; `hollow` says which marks are, where there are too few records."""
    symbols = [f"{look.symbol}-open" if empty else look.symbol for empty in hollow]
    marker = {"symbol": symbols or look.symbol, "size": size}
    fig.add_scatter(x=x, y=y, mode="lines+markers", name=look.name, line=look.line, marker=marker, **options)


def add_goal(fig: go.Figure, values: Sequence[float], goal: float) -> None:
    """A level line at what was asked for, from the least to the largest value."""
    fig.add_scatter(x=[min(values), max(values)], y=[goal, goal], mode="lines", name="asked for", line=GOAL)


def line_at(fig: go.Figure, x: float, line: dict[str, Any], name: str, height: float = 1.0) -> None:
    """A vertical line that the legend names."""
    fig.add_scatter(x=[x, x], y=[0, height], mode="lines", name=name, line={"width": 2} | line)


def log_ticks(fig: go.Figure, values: Sequence[float]) -> None:
    """A logarithmic axis with a tick at each value."""
    fig.update_xaxes(type="log", tickvals=values, ticktext=[f"{value:,g}" for value in values])


def faded(colour: str, opacity: float) -> str:
    """A colour as rgba, for bands and fills."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, {opacity})"


def as_text(name: str) -> str:
    """A name from a file, escaped so that plotly shows it and never reads it as markup."""
    return html.escape(name, quote=False).replace("$", "&#36;")
