"""Coverage and set size over random splits, against ε, the number of bins m, or the number of records n."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import plotly.graph_objects as go

from ppsets_core.errors import InputError
from ppsets_core.explore import NONPRIVATE, part_of, style
from ppsets_core.explore.labelled import Labelled
from ppsets_core.method.rules import RULES
from ppsets_core.method.simulate import Outcome, Setting, SplitResult, random_splits
from ppsets_core.progress import Progress

EPSILONS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0)
BINS = (10, 30, 100, 300, 1000, 3000, 10_000, 100_000)
QUANTITIES = {"coverage": "coverage", "mean_size": "mean set size"}
SPREAD = (5, 95)  # percentiles over the splits


def log_grid(low: float, high: float, count: int) -> tuple[float, ...]:
    """`count` values from low to high, evenly spread on a logarithmic axis and rounded to three digits."""
    return tuple(float(f"{value:.3g}") for value in np.geomspace(low, high, count))


def record_counts(low: int, high: int, count: int) -> tuple[int, ...]:
    """Up to `count` numbers of records from low to high, all but the last rounded to three digits."""
    return tuple(sorted({*(int(value) for value in log_grid(low, high, count)[:-1]), high}))


@dataclass(frozen=True, eq=False)
class Sweep:
    """One result per rule and value; `over` says what the values are: epsilon, m or n."""

    over: str
    values: tuple[float, ...]
    results: dict[str, tuple[SplitResult, ...]]  # by rule

    def at(self, value: float) -> dict[str, SplitResult]:
        """Each rule's result at one of the values."""
        place = self.values.index(value)
        return {method: results[place] for method, results in self.results.items()}


def sweep(
    records: Labelled,
    over: str,
    values: Sequence[float],
    repetitions: int,
    rng: np.random.Generator,
    *,
    alpha: float,
    n: int = 0,
    epsilon: float = 1.0,
    methods: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> Sweep:
    """Random splits at every value, each with the m* and γ* that belong to it; `progress` may raise to cancel.

    over: "epsilon", "m" or "n"; the other two stay at `epsilon`, m* and `n`. Every ε and every m is tried on the same
    splits; each n has its own, and is evaluated on the records left over.
    """
    if not values:
        raise InputError(f"There is no {over} to try; give at least one.")
    base = [Setting(alpha, epsilon, method) for method in methods or RULES]
    data, half = (records.probabilities, records.labels), records.half_precision
    if over == "n":
        steps = [part_of(progress, place, len(values)) for place in range(len(values))]
        found = [
            random_splits(*data, int(n), base, repetitions, rng, half_precision=half, progress=step)
            for n, step in zip(values, steps, strict=True)
        ]
        by_rule = list(zip(*found, strict=True))
    else:
        varied: list[dict[str, Any]] = [{over: value} for value in values]
        settings = [replace(setting, **change) for setting in base for change in varied]
        results = random_splits(*data, n, settings, repetitions, rng, half_precision=half, progress=progress)
        by_rule = [tuple(results[i : i + len(values)]) for i in range(0, len(results), len(values))]
    names = [setting.method for setting in base]
    return Sweep(over, tuple(values), dict(zip(names, by_rule, strict=True)))


@dataclass(frozen=True, eq=False)
class Trend:
    """A quantity along a sweep: its mean over the splits, and the middle 90% of them."""

    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray
    margin: np.ndarray  # half-width of a 95% interval for the mean
    trivial: np.ndarray  # where the plan has too few records and every set holds every class


def trends(swept: Sweep, quantity: str) -> dict[str, Trend]:
    """One trend per rule, and one without privacy on the same splits; `quantity` is "coverage" or "mean_size"."""
    found = {
        method: _trend([getattr(r.private, quantity) for r in results], [r.plan.is_trivial for r in results])
        for method, results in swept.results.items()
    }
    results = next(iter(swept.results.values()))
    found[NONPRIVATE] = _trend([getattr(r.nonprivate, quantity) for r in results], [False] * len(results))
    return found


def _trend(values: list[np.ndarray], trivial: list[bool]) -> Trend:
    low, high = np.array([np.percentile(v, SPREAD) for v in values]).T
    margin = [1.96 * v.std(ddof=1) / np.sqrt(len(v)) if len(v) > 1 else np.inf for v in values]
    return Trend(np.array([v.mean() for v in values]), low, high, np.array(margin), np.array(trivial))


def outcomes_of(results: Mapping[str, SplitResult]) -> dict[str, Outcome]:
    """Each rule's outcome, and the one without privacy that they share."""
    outcomes = {method: result.private for method, result in results.items()}
    return outcomes | {NONPRIVATE: next(iter(results.values())).nonprivate}


def histogram(
    outcomes: Mapping[Any, Outcome], quantity: str, bins: int = 25
) -> tuple[np.ndarray, dict[Any, np.ndarray]]:
    """Edges, and the share of splits between them for each series.

    At most `bins` bins, each holding equally many of the values that an evaluation on N records can have."""
    values = {name: getattr(outcome, quantity) for name, outcome in outcomes.items()}
    step = 1 / next(iter(outcomes.values())).size_counts[0].sum()
    together = np.concatenate(list(values.values()))
    low, steps = together.min(), np.rint(np.ptp(together) / step) + 1
    width = np.ceil(steps / bins)
    edges = low + step * (width * np.arange(np.ceil(steps / width) + 1) - 0.5)
    return edges, {name: np.histogram(v, edges)[0] / len(v) for name, v in values.items()}


def sweep_figure(swept: Sweep, quantity: str) -> go.Figure:
    """Means with a band that holds the middle 90% of splits; hollow marks where there are too few records."""
    fig = style.figure(style.AXES[swept.over], QUANTITIES[quantity])
    values = swept.values
    for name, trend in trends(swept, quantity).items():
        look = style.look_of(name)
        fig.add_scatter(
            x=[*values, *values[::-1]],
            y=[*trend.high, *trend.low[::-1]],
            mode="lines",
            fill="toself",
            fillcolor=style.faded(look.colour, 0.1),
            line={"width": 0},
            legendgroup=look.name,
            showlegend=False,
            hoverinfo="skip",
        )
        style.add_line(fig, [None], [None], look, legendgroup=look.name)  # keeps a hollow mark out of the legend
        style.add_line(fig, values, trend.mean, look, hollow=trend.trivial, legendgroup=look.name, showlegend=False)
    if quantity == "coverage":
        style.add_goal(fig, values, 1 - next(iter(swept.results.values()))[0].plan.alpha)
    style.log_ticks(fig, values)
    return fig


def histogram_figure(
    outcomes: Mapping[Any, Outcome],
    quantity: str,
    alpha: float,
    *,
    looks: Mapping[Any, style.Look] | None = None,
    bins: int = 25,
    height: int = 320,
) -> go.Figure:
    """How the splits differ, for each of the outcomes, which `outcomes_of` names; or looking as `looks` says."""
    edges, shares = histogram(outcomes, quantity, bins)
    fig = style.figure(f"{QUANTITIES[quantity]} in a split", "share of splits", height=height)
    for series, share in shares.items():
        look = looks[series] if looks else style.look_of(str(series))
        fig.add_scatter(
            x=edges,
            y=np.append(share, share[-1:]),
            mode="lines",
            name=look.name,
            line=look.line | {"shape": "hv", "width": 2},
            fill="tozeroy",
            fillcolor=style.faded(look.colour, 0.08),
        )
    if quantity == "coverage":
        highest = max(float(share.max()) for share in shares.values())
        style.line_at(fig, 1 - alpha, style.GOAL, "asked for", highest)
    fig.update_yaxes(tickformat=".0%", rangemode="tozero")
    return fig


def size_figure(results: Mapping[str, SplitResult]) -> go.Figure:
    """The share of sets with no, one, two, … classes."""
    fig = style.figure("diagnoses in the set", "share of sets", height=320)
    for name, outcome in outcomes_of(results).items():
        look, counts = style.look_of(name), outcome.size_counts.sum(axis=0)
        marker = {"color": look.colour, "pattern": {"shape": look.pattern, "fillmode": "overlay"}}
        fig.add_bar(x=list(range(len(counts))), y=counts / counts.sum(), name=look.name, marker=marker)
    fig.update_xaxes(dtick=1)
    fig.update_yaxes(tickformat=".0%")
    return fig
