"""The distribution of ŝ, drawn over the part of [0, 1] where it lies. For public scores only."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from ppsets_core.explore import NONPRIVATE
from ppsets_core.explore.style import BLUE, VERMILLION, faded, figure, line_at, look_of
from ppsets_core.method.plan import Plan
from ppsets_core.method.release import release_distribution
from ppsets_core.method.sets import nonprivate_threshold

UNSEEN = 1e-4  # probability left out at either end


@dataclass(frozen=True, eq=False)
class ReleaseView:
    """P(ŝ in (edges[i], edges[i+1]]), and the threshold of ordinary split conformal."""

    edges: np.ndarray
    probability: np.ndarray
    bins_per_step: int
    nonprivate: float


def release_view(scores: np.ndarray, chosen: Plan, steps: int = 120) -> ReleaseView:
    """At most `steps` steps of whole bins each; within a run of equal bins the law is even, so sums are exact."""
    law = release_distribution(scores, chosen)
    m = chosen.m
    last = np.round(law.upper * m).astype(int)
    after = np.cumsum(law.probability)
    places = np.column_stack([last - law.bins, last]).ravel()
    upto = np.column_stack([after - law.probability, after]).ravel()
    nonprivate = nonprivate_threshold(scores, chosen.alpha)
    low, high = np.interp([UNSEEN, 1 - UNSEEN], upto, places)
    first = max(0, int(np.floor(min(low, nonprivate * m))) - 1)
    end = min(m, int(np.ceil(max(high, nonprivate * m))) + 1)
    width = max(1, -(-(end - first) // steps))
    edges = np.unique(np.minimum(np.arange(first, end + width, width), m))
    probability = np.diff(np.interp(edges, places, upto))
    return ReleaseView(edges / m, probability, width, nonprivate)


def release_figure(view: ReleaseView, draws: Sequence[float] = ()) -> go.Figure:
    """How probable each threshold is; the last of the simulated draws as a line, earlier ones as ticks."""
    bins = view.bins_per_step
    fig = figure("threshold ŝ", "probability of a bin" if bins == 1 else f"probability of {bins:,} bins")
    peak = float(view.probability.max())
    fig.add_bar(
        x=(view.edges[:-1] + view.edges[1:]) / 2,
        y=view.probability,
        width=view.edges[1:] - view.edges[:-1],
        name="probability of ŝ",
        marker={"color": faded(BLUE, 0.6), "line": {"width": 0}},
    )
    nonprivate = look_of(NONPRIVATE)
    line_at(fig, view.nonprivate, nonprivate.line, nonprivate.name, peak)
    if draws:
        line_at(fig, draws[-1], {"color": VERMILLION, "dash": "solid"}, "ŝ, simulated", peak)
    if earlier := list(draws[:-1]):
        marker = {"symbol": "line-ns-open", "color": VERMILLION, "size": 10}
        fig.add_scatter(x=earlier, y=[0] * len(earlier), mode="markers", name="earlier draws", marker=marker)
    fig.update_layout(bargap=0)
    return fig
