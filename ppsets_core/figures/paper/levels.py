"""`levels`: against n and against ε."""

import plotly.graph_objects as go

from ppsets_core.experiments.levels import Levels
from ppsets_core.figures.level_curves import level_figure


def figures(result: Levels) -> dict[str, go.Figure]:
    return {
        "Level against the number of records": level_figure(result.over_n),
        "Level against ε": level_figure(result.over_epsilon),
    }
