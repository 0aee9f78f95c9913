"""Coverage of each diagnosis beside coverage overall."""

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from ppsets_core.explore.expected_sets import ExpectedSets
from ppsets_core.explore.figures.style import BLUE, GREEN, GREY, ORANGE, VERMILLION, as_text, figure

_LOOKS = ((VERMILLION, "diamond"), (BLUE, "circle"), (GREY, "x"), (ORANGE, "square"))


def by_diagnosis_figure(classes: Sequence[str], found: Mapping[str, ExpectedSets], asked: float) -> go.Figure:
    """One mark per way of calibrating, in a row for each diagnosis and one for all; the line is what was asked for."""
    rows = ["all together", *(as_text(name) for name in classes)]
    drawn = figure("coverage", "", height=120 + 46 * len(rows))
    for (name, sets), (colour, symbol) in zip(found.items(), _LOOKS, strict=False):
        drawn.add_scatter(
            x=[sets.coverage, *sets.coverage_by_class],
            y=rows,
            mode="markers",
            name=name,
            marker={"symbol": symbol, "size": 12, "color": colour},
            hovertemplate="%{y}: %{x:.1%}<extra>" + as_text(name) + "</extra>",
        )
    drawn.add_vline(x=asked, line={"color": GREEN, "dash": "longdash", "width": 2})
    drawn.update_xaxes(tickformat=".0%")
    drawn.update_yaxes(autorange="reversed")
    return drawn
