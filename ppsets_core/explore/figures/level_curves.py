"""Level against n or ε, and records needed against ε."""

import numpy as np
import plotly.graph_objects as go

from ppsets_core.explore.figures.style import SEQUENCE, figure, look_of
from ppsets_core.explore.level_curves import LevelCurve, LevelCurves, RecordsNeeded

TITLES = {"n": "calibration records n", "epsilon": "privacy loss ε"}


def level_figure(curves: LevelCurves) -> go.Figure:
    """One colour per ε (or n), one line style per rule; a level of 1 means too few records for anything."""
    drawn = figure(TITLES[curves.over], "level to aim at", height=420)
    fixed = sorted({c.fixed for c in curves.curves if c.fixed is not None})
    colours = {value: SEQUENCE[i % len(SEQUENCE)] for i, value in enumerate(fixed)}
    for curve in curves.curves:
        look = look_of(curve.method)
        colour = look.colour if curve.fixed is None else colours[curve.fixed]
        drawn.add_scatter(
            x=curves.x,
            y=np.minimum(curve.level, 1.0),
            mode="lines",
            name=_name(curve, curves.over),
            line={"color": colour, "dash": look.dash, "width": 2.5},
        )
    drawn.update_xaxes(type="log", dtick=1)
    drawn.update_yaxes(range=[1 - 1.1 * curves.alpha, 1 + 0.05 * curves.alpha], tickformat=".3~f")
    return drawn


def _name(curve: LevelCurve, over: str) -> str:
    if curve.fixed is None:
        return look_of(curve.method).name
    return f"{curve.method}, {'ε' if over == 'n' else 'n'} = {curve.fixed:,g}"


def records_needed_figure(needed: RecordsNeeded) -> go.Figure:
    """The least number of records at each ε, both axes logarithmic."""
    drawn = figure(TITLES["epsilon"], "records needed")
    for method, records in needed.records.items():
        look = look_of(method)
        drawn.add_scatter(
            x=needed.epsilons,
            y=records,
            mode="lines+markers",
            name=look.name,
            line={"color": look.colour, "dash": look.dash},
            marker={"symbol": look.symbol, "size": 7},
        )
    drawn.update_xaxes(type="log", dtick=1)
    drawn.update_yaxes(type="log", dtick=1)
    return drawn
