"""`coronahack`: histograms at the paper's ε, and set size along ε."""

import plotly.graph_objects as go

from ppsets_core.experiments.coronahack import PAPERS_EPSILON
from ppsets_core.figures.splits import histogram_figure, size_figure, sweep_figure
from ppsets_core.tradeoffs.sweeps import Sweep


def figures(sweep: Sweep) -> dict[str, go.Figure]:
    at = sweep.at(PAPERS_EPSILON)
    return {
        f"Coverage of each split, ε = {PAPERS_EPSILON:g}": histogram_figure(at, "coverage"),
        f"Sizes of the sets, ε = {PAPERS_EPSILON:g}": size_figure(at),
        "Coverage against ε": sweep_figure(sweep, "coverage"),
        "Mean set size against ε": sweep_figure(sweep, "mean_size"),
    }
