"""`two-by-two`: the four histograms of coverage and of mean set size, the paper's layout."""

import numpy as np
import plotly.graph_objects as go

from ppsets_core.experiments.two_by_two import ALPHA, TwoByTwo
from ppsets_core.figures.style import BLUE, GREEN, GREY, ORANGE, VERMILLION, faded, figure, line_at
from ppsets_core.tradeoffs.outcomes import counted

AXES = {"coverage": "coverage in a split", "mean_size": "mean set size in a split"}
CELLS = {
    ("plain", "plain"): ("plain training, plain calibration", GREY, "dash"),
    ("plain", "paper"): ("plain training, private calibration", BLUE, "solid"),
    ("private", "plain"): ("private training, plain calibration", ORANGE, "dot"),
    ("private", "paper"): ("private training, private calibration", VERMILLION, "longdash"),
}


def figures(found: TwoByTwo) -> dict[str, go.Figure]:
    return {"Coverage, 0.9 asked for": _histograms(found, "coverage"), "Mean set size": _histograms(found, "mean_size")}


def _histograms(found: TwoByTwo, quantity: str, bins: int = 40) -> go.Figure:
    histogram = counted({key: found.cells[key].outcome for key in CELLS}, quantity, bins)
    drawn = figure(AXES[quantity], "share of splits", height=400)
    highest = 0.0
    for key, (name, colour, dash) in CELLS.items():
        share = histogram.share[key]
        highest = max(highest, float(share.max()))
        drawn.add_scatter(
            x=histogram.edges,
            y=np.append(share, share[-1]),
            mode="lines",
            name=name,
            line={"color": colour, "dash": dash, "shape": "hv", "width": 2},
            fill="tozeroy",
            fillcolor=faded(colour, 0.12),
        )
    if quantity == "coverage":
        line_at(drawn, 1 - ALPHA, GREEN, "longdash", "asked for", highest)
    drawn.update_yaxes(tickformat=".0%", rangemode="tozero")
    return drawn
