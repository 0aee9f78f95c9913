"""For statisticians: how far above 1 − α each rule must aim, the paper's figure, and the distribution of ŝ itself."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from ppsets_core.explore import NONPRIVATE
from ppsets_core.explore.style import AXES, BLUE, SEQUENCE, VERMILLION, add_line, faded, figure, line_at, look_of
from ppsets_core.method.plan import Plan, plan, smallest_n
from ppsets_core.method.release import release_distribution
from ppsets_core.method.rules import RULES
from ppsets_core.method.sets import conformal_rank, nonprivate_threshold


@dataclass(frozen=True, eq=False)
class LevelCurves:
    """Levels along x, which is n or epsilon as `over` says, by rule and value of the other; 1 or more: too few records.

    Ordinary calibration is under (NONPRIVATE, None)."""

    over: str
    alpha: float
    x: np.ndarray
    levels: dict[tuple[str, float | None], np.ndarray]


def level_curves(
    over: str, x: Sequence[float], fixed: Sequence[float], alpha: float, methods: Sequence[str] | None = None
) -> LevelCurves:
    """One curve per rule and fixed value, and one without privacy: for the largest n where x is ε.

    over: what x holds, "n" or "epsilon"; `fixed` holds values of the other.
    """

    def level(value: float, other: float, method: str) -> float | None:
        n, epsilon = (value, other) if over == "n" else (other, value)
        return plan(int(n), alpha, epsilon, method=method).level

    levels: dict[tuple[str, float | None], np.ndarray] = {
        (method, other): np.array([level(value, other, method) for value in x])
        for method in methods or RULES
        for other in fixed
    }
    ns = [int(n) for n in (x if over == "n" else [max(fixed)] * len(x))]
    levels[NONPRIVATE, None] = np.array([conformal_rank(n, alpha) / n for n in ns])
    return LevelCurves(over, alpha, np.array(x), levels)


def level_figure(curves: LevelCurves) -> go.Figure:
    """One colour per ε (or n), one line style per rule; a level of 1 means too few records for anything."""
    fig = figure(AXES[curves.over], "level to aim at", height=420)
    fixed = sorted({other for _, other in curves.levels if other is not None})
    colours = {value: SEQUENCE[i % len(SEQUENCE)] for i, value in enumerate(fixed)}
    for (method, other), level in curves.levels.items():
        look = look_of(method)
        name, colour = look.name, look.colour
        if other is not None:
            name, colour = f"{method}, {'ε' if curves.over == 'n' else 'n'} = {other:,g}", colours[other]
        line = {"color": colour, "dash": look.dash, "width": 2.5}
        fig.add_scatter(x=curves.x, y=np.minimum(level, 1.0), mode="lines", name=name, line=line)
    fig.update_xaxes(type="log", dtick=1)
    fig.update_yaxes(range=[1 - 1.1 * curves.alpha, 1 + 0.05 * curves.alpha], tickformat=".3~f")
    return fig


def records_needed(epsilons: Sequence[float], alpha: float) -> dict[str, list[int]]:
    """The least number of records with which each rule promises anything, at each ε."""
    return {method: [smallest_n(alpha, epsilon, method) for epsilon in epsilons] for method in RULES}


def records_needed_figure(epsilons: Sequence[float], needed: dict[str, list[int]]) -> go.Figure:
    """One line per rule, both axes logarithmic."""
    fig = figure(AXES["epsilon"], "records needed")
    for method, records in needed.items():
        add_line(fig, epsilons, records, look_of(method), size=7)
    fig.update_xaxes(type="log", dtick=1)
    fig.update_yaxes(type="log", dtick=1)
    return fig


UNSEEN = 1e-4  # probability left out at either end


@dataclass(frozen=True, eq=False)
class ReleaseView:
    """P(ŝ in (edges[i], edges[i+1]]), and the threshold of ordinary split conformal."""

    edges: np.ndarray
    probability: np.ndarray
    bins_per_step: int
    nonprivate: float


def release_view(scores: np.ndarray, chosen: Plan, steps: int = 120) -> ReleaseView:
    """At most `steps` steps of whole bins each; within a run of equal bins the law is even, so sums are exact."""
    law = release_distribution(scores, chosen)
    m = chosen.m
    last = np.round(law.upper * m).astype(int)
    after = np.cumsum(law.probability)
    places = np.column_stack([last - law.bins, last]).ravel()
    upto = np.column_stack([after - law.probability, after]).ravel()
    nonprivate = nonprivate_threshold(scores, chosen.alpha)
    low, high = np.interp([UNSEEN, 1 - UNSEEN], upto, places)
    first = max(0, int(np.floor(min(low, nonprivate * m))) - 1)
    end = min(m, int(np.ceil(max(high, nonprivate * m))) + 1)
    width = max(1, -(-(end - first) // steps))
    edges = np.unique(np.minimum(np.arange(first, end + width, width), m))
    probability = np.diff(np.interp(edges, places, upto))
    return ReleaseView(edges / m, probability, width, nonprivate)


def release_figure(view: ReleaseView, draws: Sequence[float] = ()) -> go.Figure:
    """How probable each threshold is; the last of the simulated draws as a line, earlier ones as ticks."""
    bins = view.bins_per_step
    fig = figure("threshold ŝ", "probability of a bin" if bins == 1 else f"probability of {bins:,} bins")
    peak = float(view.probability.max())
    fig.add_bar(
        x=(view.edges[:-1] + view.edges[1:]) / 2,
        y=view.probability,
        width=view.edges[1:] - view.edges[:-1],
        name="probability of ŝ",
        marker={"color": faded(BLUE, 0.6), "line": {"width": 0}},
    )
    nonprivate = look_of(NONPRIVATE)
    line_at(fig, view.nonprivate, nonprivate.line, nonprivate.name, peak)
    if draws:
        line_at(fig, draws[-1], {"color": VERMILLION, "dash": "solid"}, "ŝ, simulated", peak)
    if earlier := list(draws[:-1]):
        marker = {"symbol": "line-ns-open", "color": VERMILLION, "size": 10}
        fig.add_scatter(x=earlier, y=[0] * len(earlier), mode="markers", name="earlier draws", marker=marker)
    fig.update_layout(bargap=0)
    return fig
