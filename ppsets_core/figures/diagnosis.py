"""One X-ray's softmax as ranked bars, with the cutoff that decides which are in the set."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from ppsets_core.figures.style import FAINT, GREEN, GREY, VERMILLION, as_text, figure
from ppsets_core.sets import prediction_sets


def softmax_figure(classes: Sequence[str], probabilities: np.ndarray, threshold: float, most: int = 8) -> go.Figure:
    """The likeliest classes first; those at or beyond the cutoff 1 − ŝ are in the set and green."""
    order = np.argsort(-probabilities, kind="stable")[:most]
    inside = prediction_sets(probabilities[None], threshold)[0][order]
    drawn = figure("", "", height=70 + 26 * len(order))
    drawn.add_bar(
        x=probabilities[order],
        y=[as_text(classes[i]) for i in order],
        orientation="h",
        text=[f"{probabilities[i]:.2f}" for i in order],
        textposition="auto",
        cliponaxis=False,
        marker={
            "color": [GREEN if member else FAINT for member in inside],
            "line": {"color": [GREEN if member else GREY for member in inside], "width": 1},
        },
        hovertemplate="%{y}: %{x:.4f}<extra></extra>",
        showlegend=False,
    )
    cutoff = 1 - threshold
    drawn.add_vline(x=cutoff, line={"color": VERMILLION, "dash": "dash", "width": 2})
    drawn.add_annotation(
        x=cutoff,
        y=1,
        yref="paper",
        yanchor="bottom",
        text=f"cutoff {cutoff:.3g}",
        showarrow=False,
        xanchor="left" if cutoff < 0.5 else "right",
        font={"size": 11, "color": VERMILLION},
    )
    drawn.update_xaxes(range=[0, 1], fixedrange=True, tickvals=[0, 0.5, 1])
    drawn.update_yaxes(autorange="reversed", fixedrange=True)
    drawn.update_layout(margin={"l": 8, "r": 12, "t": 20, "b": 24}, bargap=0.25)
    return drawn
