"""How good the classifier is, and how training goes: confusion, reliability, loss."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from ppsets_core.explore.figures.style import BLUE, GREEN, GREY, ORANGE, as_text, figure
from ppsets_core.model.recipe import Epoch
from ppsets_core.model.report import ReliabilityBin

_SHADES = [[0, "#EEF5FA"], [1, BLUE]]  # opaque, so that plotly writes in black or white as each cell needs


def confusion_figure(classes: Sequence[str], confusion: np.ndarray) -> go.Figure:
    """Rows are true classes, shaded by their share of the row; the numbers are counts."""
    names = [as_text(name) for name in classes]
    share = confusion / np.maximum(confusion.sum(axis=1, keepdims=True), 1)
    drawn = figure("the model says", "true class")
    drawn.add_heatmap(
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
    drawn.update_xaxes(showgrid=False)
    drawn.update_yaxes(showgrid=False, autorange="reversed")
    return drawn


def reliability_figure(bins: Sequence[ReliabilityBin]) -> go.Figure:
    """Where the model says 80%, is it right 80% of the time? Marks grow with the number of X-rays behind them."""
    drawn = figure("probability the model gives", "share that is right")
    drawn.add_scatter(x=[0, 1], y=[0, 1], mode="lines", name="ideal", line={"color": GREY, "dash": "dash"})
    largest = max(b.count for b in bins)
    drawn.add_scatter(
        x=[b.confidence for b in bins],
        y=[b.accuracy for b in bins],
        mode="markers",
        name="model",
        marker={"color": BLUE, "size": [6 + 18 * (b.count / largest) ** 0.5 for b in bins]},
        customdata=[b.count for b in bins],
        hovertemplate="says %{x:.2f}, right %{y:.2f}, %{customdata} X-rays<extra></extra>",
    )
    drawn.update_xaxes(range=[0, 1.02])
    drawn.update_yaxes(range=[0, 1.05])
    return drawn


def training_figure(epochs: Sequence[Epoch]) -> go.Figure:
    """Loss on the left axis; accuracy and mean recall on the held-out X-rays on the right."""
    drawn = figure("epoch", "training loss")
    steps = [e.epoch for e in epochs]
    drawn.add_scatter(x=steps, y=[e.loss for e in epochs], mode="lines+markers", name="loss", line={"color": BLUE})
    shares = {
        "held-out accuracy": ("accuracy", GREEN, "dot", "square"),
        "held-out mean recall": ("macro_recall", ORANGE, "dash", "diamond"),
    }
    for name, (field, colour, dash, symbol) in shares.items():
        drawn.add_scatter(
            x=steps,
            y=[getattr(e, field) for e in epochs],
            mode="lines+markers",
            name=name,
            yaxis="y2",
            line={"color": colour, "dash": dash},
            marker={"symbol": symbol},
        )
    drawn.update_layout(
        yaxis2={
            "overlaying": "y",
            "side": "right",
            "tickmode": "linear",
            "range": [0, 1],
            "dtick": 0.2,
            "tickformat": ".0%",
            "showgrid": False,
        }
    )
    drawn.update_layout(margin={"r": 40})
    drawn.update_xaxes(range=[0.5, max(epochs[-1].epochs, 2) + 0.5] if epochs else None)
    return drawn
