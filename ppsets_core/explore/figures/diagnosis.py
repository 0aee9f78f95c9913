"""One X-ray's softmax as ranked bars, with the cutoff that decides which are in the set."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from ppsets_core.explore.figures.style import FAINT, GREEN, GREY, VERMILLION, as_text, figure

_BELOW, _ROW = 22, 40


def softmax_figure(
    classes: Sequence[str], probabilities: np.ndarray, thresholds: Sequence[float], most: int = 8
) -> go.Figure:
    """Likeliest classes first, each named above its bar; those that reach their cutoff 1 − ŝ are in the set, green.

    `thresholds`: one for each class, which may all be the same.
    """
    order = np.argsort(-probabilities, kind="stable")[:most]
    inside = (1 - probabilities <= np.asarray(thresholds))[order]
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
    cutoffs = [1 - thresholds[i] for i in order]
    common = len(set(cutoffs)) == 1
    for row, (i, member, cutoff) in enumerate(zip(order, inside, cutoffs, strict=True)):
        name, needed = as_text(classes[i]), "" if common else f" · needs {cutoff:.3g}"
        _write(drawn, 0, row, "left", f"<b>{name}</b>" if member else name)
        _write(drawn, 1, row, "right", f"{probabilities[i]:.3f}{needed}")
        mark = {"x0": cutoff, "x1": cutoff, "y0": row - 0.04, "y1": row + 0.5}
        drawn.add_shape(type="line", line={"color": VERMILLION, "width": 3}, **mark)
    if common:
        _name_cutoff(drawn, cutoffs[0], f"cutoff {cutoffs[0]:.3g}")
    else:
        _name_cutoff(drawn, 0, "upright line: what each diagnosis needs")
    drawn.update_xaxes(range=[-0.005, 1.005], fixedrange=True, visible=False)
    drawn.update_yaxes(range=[len(order) - 0.45, -0.5], fixedrange=True, visible=False)
    drawn.update_layout(margin={"l": 2, "r": 2, "t": 2, "b": _BELOW})
    return drawn


def _write(drawn: go.Figure, x: float, row: int, anchor: str, text: str) -> None:
    place = {"x": x, "y": row, "xanchor": anchor, "yanchor": "bottom", "showarrow": False, "borderpad": 0}
    drawn.add_annotation(text=text, font={"size": 13}, **place)


def _name_cutoff(drawn: go.Figure, cutoff: float, text: str) -> None:
    anchor = "left" if cutoff < 0.5 else "right"
    font = {"size": 12, "color": VERMILLION}
    drawn.add_annotation(
        x=cutoff, y=0, yref="paper", yanchor="top", text=text, showarrow=False, xanchor=anchor, font=font
    )
