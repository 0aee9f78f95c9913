"""One X-ray's softmax as ranked bars, with the cutoff that decides which are in the set."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from ppsets_core.figures.style import FAINT, GREEN, GREY, VERMILLION, as_text, figure
from ppsets_core.sets import prediction_sets

_BELOW, _ROW = 22, 40


def softmax_figure(classes: Sequence[str], probabilities: np.ndarray, threshold: float, most: int = 8) -> go.Figure:
    """Likeliest classes first, each named above its bar; those that reach the cutoff 1 − ŝ are in the set, green."""
    order = np.argsort(-probabilities, kind="stable")[:most]
    inside = prediction_sets(probabilities[None], threshold)[0][order]
    drawn = figure("", "", height=_BELOW + _ROW * len(order))
    drawn.add_bar(
        x=probabilities[order],
        y=list(range(len(order))),
        width=0.4,
        offset=0,
        orientation="h",
        customdata=[as_text(classes[i]) for i in order],
        marker={
            "color": [GREEN if member else FAINT for member in inside],
            "line": {"color": [GREEN if member else GREY for member in inside], "width": 1},
        },
        hovertemplate="%{customdata}: %{x:.4f}<extra></extra>",
        showlegend=False,
    )
    for row, (i, member) in enumerate(zip(order, inside, strict=True)):
        name = as_text(classes[i])
        _write(drawn, 0, row, "left", f"<b>{name}</b>" if member else name)
        _write(drawn, 1, row, "right", f"{probabilities[i]:.3f}")
    _add_cutoff(drawn, 1 - threshold, len(order))
    drawn.update_xaxes(range=[-0.005, 1.005], fixedrange=True, visible=False)
    drawn.update_yaxes(range=[len(order) - 0.45, -0.5], fixedrange=True, visible=False)
    drawn.update_layout(margin={"l": 2, "r": 2, "t": 2, "b": _BELOW})
    return drawn


def _write(drawn: go.Figure, x: float, row: int, anchor: str, text: str) -> None:
    place = {"x": x, "y": row, "xanchor": anchor, "yanchor": "bottom", "showarrow": False, "borderpad": 0}
    drawn.add_annotation(text=text, font={"size": 13}, **place)


def _add_cutoff(drawn: go.Figure, cutoff: float, rows: int) -> None:
    """A mark across each bar, clear of the names above them, and its value below the last."""
    for row in range(rows):
        mark = {"x0": cutoff, "x1": cutoff, "y0": row - 0.04, "y1": row + 0.5}
        drawn.add_shape(type="line", line={"color": VERMILLION, "width": 3}, **mark)
    drawn.add_annotation(
        x=cutoff,
        y=0,
        yref="paper",
        yanchor="top",
        text=f"cutoff {cutoff:.3g}",
        showarrow=False,
        xanchor="left" if cutoff < 0.5 else "right",
        font={"size": 12, "color": VERMILLION},
    )
