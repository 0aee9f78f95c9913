"""The trade-off map: set size as colour over α and ε, with contour lines, and marks to click on."""

import numpy as np
import plotly.graph_objects as go

from ppsets_core.figures.style import FAINT, GREY, figure
from ppsets_core.tradeoffs.tradeoff_map import TradeoffMap

_SCALE = "Viridis_r"


def tradeoff_figure(found: TradeoffMap) -> go.Figure:
    """Darker is larger sets. Where nothing can be promised there is no colour, and a grey cross at each point."""
    drawn = figure("privacy loss ε", "share α that may be missed", height=460)
    logs = np.log10(found.epsilons)
    drawn.add_contour(
        x=logs,
        y=found.alphas,
        z=found.sizes,
        colorscale=_SCALE,
        contours={"showlabels": True, "labelfont": {"size": 12}, "coloring": "heatmap"},
        line={"width": 1},
        colorbar={"title": {"text": "mean<br>set size"}, "thickness": 12},
        hoverinfo="skip",
        connectgaps=False,
    )
    _add_points(drawn, found, logs, np.isfinite(found.sizes), "set size", {"symbol": "circle", "color": "white"})
    _add_points(drawn, found, logs, np.isnan(found.sizes), "nothing can be promised", {"symbol": "x-thin-open"})
    drawn.update_xaxes(tickvals=logs, ticktext=[f"{e:g}" for e in found.epsilons], showgrid=False)
    drawn.update_yaxes(tickformat=".0%", showgrid=False)
    return drawn


def _add_points(
    drawn: go.Figure, found: TradeoffMap, logs: np.ndarray, where: np.ndarray, name: str, marker: dict[str, object]
) -> None:
    rows, columns = np.nonzero(where)
    if not len(rows):
        return
    promised = f"α = %{{y:.0%}}, ε = %{{customdata[1]:g}}: {name}"
    told = (
        "<br>%{customdata[2]:.2f} diagnoses, coverage %{customdata[3]:.1%}"
        if np.isfinite(found.sizes[where]).all()
        else ""
    )
    drawn.add_scatter(
        x=logs[columns],
        y=found.alphas[rows],
        mode="markers",
        name=name,
        marker={"size": 9, "line": {"color": GREY, "width": 1}, "opacity": 0.75} | marker,
        customdata=np.column_stack(
            [found.alphas[rows], found.epsilons[columns], found.sizes[where], found.coverage[where]]
        ),
        hovertemplate=f"{promised}{told}<extra></extra>",
        selected={"marker": {"color": FAINT}},
        showlegend=True,
    )
