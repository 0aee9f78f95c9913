"""`bins`: coverage and set size along m, a pair of figures a source, each rule's m* marked."""

import plotly.graph_objects as go

from ppsets_core.experiments.bins import best_m
from ppsets_core.experiments.sources import SourceSweep
from ppsets_core.figures.splits import sweep_figure
from ppsets_core.figures.style import COLOURS
from ppsets_core.tradeoffs.outcomes import trends

TITLES = {"coverage": "coverage", "mean_size": "mean set size"}


def figures(found: tuple[SourceSweep, ...]) -> dict[str, go.Figure]:
    return {f"{one.source}: {TITLES[quantity]}": _figure(one, quantity) for one in found for quantity in TITLES}


def _figure(one: SourceSweep, quantity: str) -> go.Figure:
    drawn = sweep_figure(one.sweep, quantity)
    for rule, m in best_m(one.n).items():
        drawn.add_scatter(
            x=[m],
            y=[trends(one.sweep, quantity)[rule].mean[one.sweep.values.index(m)]],
            mode="markers",
            name=f"m* = {m:,}",
            marker={"symbol": "star", "size": 16, "color": COLOURS[rule]},
        )
    decades = [10**power for power in range(1, 7)]
    drawn.update_xaxes(tickvals=decades, ticktext=[f"{m:,}" for m in decades])
    return drawn
