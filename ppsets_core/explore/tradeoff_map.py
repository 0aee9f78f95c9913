"""α against ε in one picture: the set size to expect at every point, for a number of records and a rule."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from ppsets_core.explore.expected_sets import expected_sets
from ppsets_core.explore.labelled import Labelled
from ppsets_core.explore.style import AXES, GREY, figure
from ppsets_core.method.plan import DIAGNOSIS, plan
from ppsets_core.progress import Progress

ALPHAS = (0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
EPSILONS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0)


@dataclass(frozen=True, eq=False)
class TradeoffMap:
    """Mean set sizes, one row per α and one column per ε; nan where nothing can be promised but every diagnosis."""

    n: int
    method: str
    per: str | None
    alphas: np.ndarray
    epsilons: np.ndarray
    sizes: np.ndarray
    coverage: np.ndarray


def tradeoff_map(
    records: Labelled,
    n: int,
    method: str,
    *,
    per: str | None = None,
    alphas: Sequence[float] = ALPHAS,
    epsilons: Sequence[float] = EPSILONS,
    progress: Progress | None = None,
) -> TradeoffMap:
    """Every point on the same draws. `progress` may raise to cancel."""
    classes = records.probabilities.shape[1] if per == DIAGNOSIS else None
    sizes, coverage = (np.full((len(alphas), len(epsilons)), np.nan) for _ in range(2))
    for row, alpha in enumerate(alphas):
        for column, epsilon in enumerate(epsilons):
            chosen = plan(n, alpha, epsilon, method=method, per=per, classes=classes)
            if not chosen.is_trivial:
                found = expected_sets(records, chosen, np.random.default_rng(0))
                sizes[row, column], coverage[row, column] = found.mean_size, found.coverage
            if progress:
                progress(row * len(epsilons) + column + 1, sizes.size)
    return TradeoffMap(n, method, per, np.array(alphas), np.array(epsilons), sizes, coverage)


def tradeoff_figure(found: TradeoffMap) -> go.Figure:
    """Darker is larger sets. Where nothing can be promised there is no colour, and a grey cross at each point."""
    fig = figure(AXES["epsilon"], "share α that may be missed", height=480)
    x, y = np.log10(found.epsilons), np.log10(found.alphas)
    fig.add_contour(
        x=x,
        y=y,
        z=found.sizes,
        colorscale="Viridis_r",
        contours={"showlabels": True, "labelfont": {"size": 12}, "coloring": "heatmap"},
        line={"width": 1},
        colorbar={"title": {"text": "mean<br>set size"}, "thickness": 12},
        hoverinfo="skip",
        connectgaps=False,
    )
    useful = np.isfinite(found.sizes)
    numbers = "<br>%{customdata[2]:.2f} diagnoses, coverage %{customdata[3]:.1%}"
    _add_points(fig, found, useful, "click to take to Calibrate", numbers, {"symbol": "circle", "color": "white"})
    _add_points(fig, found, ~useful, "nothing can be promised", "", {"symbol": "x-thin-open", "color": GREY})
    fig.update_xaxes(tickvals=x, ticktext=[f"{e:g}" for e in found.epsilons], showgrid=False)
    fig.update_yaxes(tickvals=y, ticktext=[f"{a:.0%}" for a in found.alphas], showgrid=False)
    return fig


def _add_points(
    fig: go.Figure, found: TradeoffMap, where: np.ndarray, name: str, numbers: str, marker: dict[str, object]
) -> None:
    rows, columns = np.nonzero(where)
    if not len(rows):
        return
    alphas, epsilons = found.alphas[rows], found.epsilons[columns]
    fig.add_scatter(
        x=np.log10(epsilons),
        y=np.log10(alphas),
        mode="markers",
        name=name,
        marker={"size": 9, "line": {"color": GREY, "width": 1}, "opacity": 0.75} | marker,
        customdata=np.column_stack([alphas, epsilons, found.sizes[where], found.coverage[where]]),
        hovertemplate=f"α = %{{customdata[0]:.0%}}, ε = %{{customdata[1]:g}}: {name}{numbers}<extra></extra>",
    )
