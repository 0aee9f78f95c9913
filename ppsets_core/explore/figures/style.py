"""One look for every figure: Okabe–Ito colours, no background of its own, readable on light and dark, from 400 px."""

import html
from dataclasses import dataclass

import plotly.graph_objects as go

from ppsets_core.explore import NONPRIVATE, label_of
from ppsets_core.method.rules import RULES

ORANGE, SKY, GREEN, BLUE, VERMILLION, PURPLE = "#E69F00", "#56B4E9", "#009E73", "#0072B2", "#D55E00", "#CC79A7"
GREY = "#808080"
FAINT = "rgba(128, 128, 128, 0.25)"
SEQUENCE = (BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILLION)


@dataclass(frozen=True)
class Look:
    """How one rule is drawn in every figure, told apart by more than colour; `name` is what legends call it."""

    name: str
    colour: str
    dash: str
    symbol: str
    pattern: str

    @property
    def stroke(self) -> str:
        """What a caption calls its line: "solid", "dotted"."""
        return _STROKES[self.dash]


_STROKES = {
    "solid": "solid",
    "dot": "dotted",
    "dash": "dashed",
    "longdash": "long dashes",
    "dashdot": "dashes and dots",
    "longdashdot": "long dashes and dots",
}
_LOOKS = (
    (VERMILLION, "dot", "diamond", "/"),
    (BLUE, "solid", "circle", ""),
    (PURPLE, "dashdot", "square", "x"),
    (ORANGE, "longdash", "triangle-up", "\\"),
    (SKY, "longdashdot", "star", "-"),
)


def look_of(rule: str) -> Look:
    """The look of a rule, by its place among the rules; of calibration without privacy; of a new name."""
    if rule == NONPRIVATE:
        return Look(label_of(rule), GREY, "dash", "x", ".")
    place = list(RULES).index(rule) if rule in RULES else len(RULES)
    return Look(label_of(rule) if rule in RULES else rule, *_LOOKS[place % len(_LOOKS)])


_TEMPLATE = go.layout.Template(
    layout={
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "colorway": SEQUENCE,
        "xaxis": {"gridcolor": FAINT, "linecolor": GREY, "zeroline": False},
        "yaxis": {"gridcolor": FAINT, "linecolor": GREY, "zeroline": False},
    }
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


def faded(colour: str, opacity: float) -> str:
    """A colour as rgba, for bands and fills."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, {opacity})"


def as_text(name: str) -> str:
    """A name from a file as plotly must be given it, so that it is shown and never read as markup."""
    return html.escape(name, quote=False).replace("$", "&#36;")


def line_at(figure: go.Figure, x: float, colour: str, dash: str, name: str, height: float = 1.0) -> None:
    """A vertical line that the legend names."""
    figure.add_scatter(
        x=[x, x], y=[0, height], mode="lines", name=name, line={"color": colour, "dash": dash, "width": 2}
    )
