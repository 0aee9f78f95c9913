"""The trade-off map: set size as colour over α and ε, with contour lines, and marks to click on."""

import numpy as np
import plotly.graph_objects as go

from ppsets_core.explore.figures.style import GREY, figure
from ppsets_core.explore.tradeoff_map import TradeoffMap

_SCALE = "Viridis_r"


def tradeoff_figure(found: TradeoffMap) -> go.Figure:
    """Darker is larger sets. Where nothing can be promised there is no colour, and a grey cross at each point."""
    drawn = figure("privacy loss ε", "share α that may be missed", height=480)
    x, y = np.log10(found.epsilons), np.log10(found.alphas)
    drawn.add_contour(
        x=x,
        y=y,
        z=found.sizes,
        colorscale=_SCALE,
        contours={"showlabels": True, "labelfont": {"size": 12}, "coloring": "heatmap"},
        line={"width": 1},
        colorbar={"title": {"text": "mean<br>set size"}, "thickness": 12},
        hoverinfo="skip",
        connectgaps=False,
    )
    useful = np.isfinite(found.sizes)
    told = "<br>%{customdata[2]:.2f} diagnoses, coverage %{customdata[3]:.1%}"
    _add_points(drawn, found, useful, "click to take to Calibrate", told, {"symbol": "circle", "color": "white"})
    _add_points(drawn, found, ~useful, "nothing can be promised", "", {"symbol": "x-thin-open", "color": GREY})
    drawn.update_xaxes(tickvals=x, ticktext=[f"{e:g}" for e in found.epsilons], showgrid=False)
    drawn.update_yaxes(tickvals=y, ticktext=[f"{a:.0%}" for a in found.alphas], showgrid=False)
    return drawn


def _add_points(
    drawn: go.Figure, found: TradeoffMap, where: np.ndarray, name: str, told: str, marker: dict[str, object]
) -> None:
    rows, columns = np.nonzero(where)
    if not len(rows):
        return
    alphas, epsilons = found.alphas[rows], found.epsilons[columns]
    drawn.add_scatter(
        x=np.log10(epsilons),
        y=np.log10(alphas),
        mode="markers",
        name=name,
        marker={"size": 9, "line": {"color": GREY, "width": 1}, "opacity": 0.75} | marker,
        customdata=np.column_stack([alphas, epsilons, found.sizes[where], found.coverage[where]]),
        hovertemplate=f"α = %{{customdata[0]:.0%}}, ε = %{{customdata[1]:g}}: {name}{told}<extra></extra>",
    )
