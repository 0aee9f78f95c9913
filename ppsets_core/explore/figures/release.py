"""The law of ŝ over the bins, with a draw and the non-private quantile."""

from collections.abc import Sequence

import plotly.graph_objects as go

from ppsets_core.explore.figures.style import BLUE, NONPRIVATE, VERMILLION, faded, figure, line_at, look_of
from ppsets_core.explore.release_view import ReleaseView


def release_figure(view: ReleaseView, drawn_thresholds: Sequence[float] = ()) -> go.Figure:
    """How probable each threshold is; the last of the simulated draws as a line, earlier ones as ticks."""
    drawn = figure("threshold ŝ", _unit(view.bins_per_step))
    peak = float(view.probability.max())
    drawn.add_bar(
        x=(view.edges[:-1] + view.edges[1:]) / 2,
        y=view.probability,
        width=view.edges[1:] - view.edges[:-1],
        name="probability of ŝ",
        marker={"color": faded(BLUE, 0.6), "line": {"width": 0}},
    )
    nonprivate = look_of(NONPRIVATE)
    line_at(drawn, view.nonprivate, nonprivate.colour, nonprivate.dash, nonprivate.name, peak)
    if drawn_thresholds:
        line_at(drawn, drawn_thresholds[-1], VERMILLION, "solid", "ŝ, simulated", peak)
    if len(drawn_thresholds) > 1:
        earlier = list(drawn_thresholds[:-1])
        marker = {"symbol": "line-ns-open", "color": VERMILLION, "size": 10}
        drawn.add_scatter(x=earlier, y=[0] * len(earlier), mode="markers", name="earlier draws", marker=marker)
    drawn.update_layout(bargap=0)
    return drawn


def _unit(bins: int) -> str:
    return "probability of a bin" if bins == 1 else f"probability of {bins:,} bins"
