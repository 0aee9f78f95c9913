"""`epsilons`: coverage and set size along ε, a pair of figures a source."""

import plotly.graph_objects as go

from ppsets_core.experiments.sources import SourceSweep
from ppsets_core.figures.paper.bins import TITLES
from ppsets_core.figures.splits import sweep_figure


def figures(found: tuple[SourceSweep, ...]) -> dict[str, go.Figure]:
    return {
        f"{one.source}: {TITLES[quantity]}": sweep_figure(one.sweep, quantity) for one in found for quantity in TITLES
    }
