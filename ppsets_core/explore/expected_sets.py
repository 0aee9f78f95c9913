"""The sets to expect of a plan before there is any data: on public records, over many calibrations drawn from them; and
the map of α against ε that they make.

Calibration records are drawn with replacement, so that n may exceed the public data set. Given them, the law of ŝ is
known exactly and is averaged over, not drawn from; so a few hundred repetitions leave a small margin.
"""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from ppsets_core.explore.labelled import Labelled
from ppsets_core.explore.style import AXES, BLUE, GOAL, GREY, ORANGE, VERMILLION, as_text, figure
from ppsets_core.method.bins import Runs, bin_index, limit, runs_around
from ppsets_core.method.plan import DIAGNOSIS, Plan, plan
from ppsets_core.method.rules.mechanism import run_probabilities
from ppsets_core.method.sets import conformal_rank
from ppsets_core.places import ASSETS
from ppsets_core.progress import Progress

_LOOKS = ((VERMILLION, "diamond"), (BLUE, "circle"), (GREY, "x"), (ORANGE, "square"))


@dataclass(frozen=True, eq=False)
class ExpectedSets:
    """Means over the calibrations; `margin` is the half-width of a 95% interval for the mean size."""

    mean_size: float
    margin: float
    coverage: float
    coverage_by_class: np.ndarray
    size_by_class: np.ndarray | None = None  # by true class, where asked for


def expected_sets(
    records: Labelled, chosen: Plan, rng: np.random.Generator, repetitions: int = 200, *, by_class: bool = False
) -> ExpectedSets:
    """With the private threshold, or thresholds, of the plan. by_class: set sizes of each true class, too."""
    curves = _Curves(records, by_class)
    if chosen.is_trivial:
        return curves.means(np.ones((1, curves.classes, len(curves.values[0]))))
    return curves.means(_private(curves, chosen, rng, repetitions))


def nonprivate_sets(
    records: Labelled, n: int, alpha: float, rng: np.random.Generator, *, each: bool = False, repetitions: int = 200
) -> ExpectedSets:
    """With ordinary split conformal, for all together or for each diagnosis."""
    curves = _Curves(records)
    order = np.argsort(curves.scores, kind="stable")
    scores, labels = curves.scores[order], curves.labels[order]
    times = rng.multinomial(n, np.full(len(scores), 1 / len(scores)), size=repetitions)
    found, together = curves.room(repetitions), _conformal(scores, times, alpha)
    for c in range(curves.classes):
        thresholds = _conformal(scores, times * (labels == c), alpha) if each else together
        found[:, c] = [curves.at(c, threshold) for threshold in thresholds]
    return curves.means(found)


def _conformal(scores: np.ndarray, times: np.ndarray, alpha: float) -> np.ndarray:
    """The threshold of each data set, in which each of the scores, in rising order, stands so many times."""
    upto = np.cumsum(times, axis=1)
    ranks = np.array([conformal_rank(int(n), alpha) for n in upto[:, -1]])
    places = (upto < ranks[:, None]).sum(axis=1)
    return np.append(scores, 1.0)[places]


class _Curves:
    """How often each class is in a set, at any threshold: among all records, among records of that class and, if asked,
    among the records of every class."""

    def __init__(self, records: Labelled, by_class: bool = False) -> None:
        self.labels, self.classes, self.scores = records.labels, records.probabilities.shape[1], records.scores
        self.shares = np.bincount(self.labels, minlength=self.classes) / len(self.labels)
        self.own = [np.sort(self.scores[self.labels == c]) for c in range(self.classes)]
        parts = [self.labels == c for c in range(self.classes)] if by_class else []
        self.values = [
            [np.sort(column), self.own[c], *(np.sort(column[part]) for part in parts)]
            for c, column in enumerate(records.score.of_classes(records.probabilities).T)
        ]
        self._half = records.half_precision

    def room(self, repetitions: int) -> np.ndarray:
        return np.empty((repetitions, self.classes, len(self.values[0])))

    def at(self, c: int, threshold: float) -> list[float]:
        """The shares for class c."""
        upto = limit(threshold, self._half)
        return [int(np.searchsorted(values, upto, side="right")) / max(1, len(values)) for values in self.values[c]]

    def over_runs(self, c: int, runs: Runs, m: int) -> np.ndarray:
        """What `at` gives, averaged over the edges of each run of bins, a row for each run."""
        shares, edges = [], np.stack([runs.last, runs.first - 1])
        for values in self.values[c]:
            joins = _first_edges(values, m, self._half)
            inside = np.searchsorted(joins, edges, side="right")
            last, before = inside * (edges + 1) - np.append(0, np.cumsum(joins))[inside]  # summed over all edges so far
            shares.append((last - before) / np.maximum(runs.bins, 1) / max(1, len(values)))
        return np.stack(shares, axis=-1)

    def means(self, found: np.ndarray) -> ExpectedSets:
        """Of (repetitions, classes, shares) as `at` gives them."""
        sizes, by_class = found[..., 0].sum(axis=1), found[..., 1].mean(axis=0)
        error = sizes.std(ddof=1) / np.sqrt(len(sizes)) if len(sizes) > 1 else 0.0
        each = found[..., 2:].sum(axis=1).mean(axis=0) if found.shape[-1] > 2 else None
        return ExpectedSets(float(sizes.mean()), float(1.96 * error), float(by_class @ self.shares), by_class, each)


def _private(curves: _Curves, chosen: Plan, rng: np.random.Generator, repetitions: int) -> np.ndarray:
    """(repetitions, classes, shares): the expectation of `_Curves.at` over ŝ.

    Where each diagnosis has its own threshold, it comes from as many records as chance gives the diagnosis.
    """
    together = chosen.per is None
    every = range(curves.classes)
    groups = [(curves.scores, every)] if together else [(curves.own[c], range(c, c + 1)) for c in every]
    counts = rng.multinomial(chosen.n, [1.0] if together else curves.shares, size=repetitions)
    found = curves.room(repetitions)
    for (scores, classes), drawn in zip(groups, counts.T, strict=True):
        for count in map(int, np.unique(drawn)):
            these = np.flatnonzero(drawn == count)
            runs = _sampled_runs(scores, count, chosen.m, rng, len(these))
            law = run_probabilities(chosen.mechanism if together else chosen.mechanism_for(count), runs, count)
            first = Runs(runs.first[0], runs.last[0], runs.below[0], runs.upto[0])  # all have the same bins
            for c in classes:
                found[these, c] = law @ curves.over_runs(c, first, chosen.m)
    return found


def chances_in_set(
    records: Labelled, chosen: Plan, probabilities: np.ndarray, rng: np.random.Generator, repetitions: int = 60
) -> np.ndarray:
    """In what share of releases each diagnosis would be in the set of each X-ray, as (X-rays, classes).

    Calibration records are drawn from `records`; one threshold for all together.
    """
    if chosen.is_trivial:
        return np.ones(probabilities.shape)
    runs = _sampled_runs(records.scores, chosen.n, chosen.m, rng, repetitions)
    law = run_probabilities(chosen.mechanism, runs, chosen.n) / np.maximum(runs.bins, 1) / repetitions
    scores = records.score.of_classes(probabilities)
    joins = _first_edges(scores.ravel(), chosen.m, records.half_precision)
    from_there = [(law * np.maximum(runs.last - np.maximum(runs.first, join) + 1, 0)).sum() for join in joins]
    return np.reshape(from_there, scores.shape)


def _first_edges(values: np.ndarray, m: int, half_precision: bool) -> np.ndarray:
    """The first of the m edges whose set has each of the values, compared as `limit` does."""
    edge = bin_index(np.clip(values - limit(0.0, half_precision), 0, 1), m)
    edge -= (edge > 1) & (limit((edge - 1) / m, half_precision) >= values)
    return edge + (limit(edge / m, half_precision) < values)


def _sampled_runs(scores: np.ndarray, n: int, m: int, rng: np.random.Generator, repetitions: int) -> Runs:
    """The runs of many data sets of n of these scores, drawn with replacement; some may be empty."""
    bins, counts = np.unique(np.append(bin_index(scores, m), m), return_counts=True)
    counts[-1] -= 1
    chances = counts / counts.sum() if counts.sum() else np.ones(len(counts)) / len(counts)
    drawn = rng.multinomial(n, chances, size=repetitions)
    return runs_around(np.broadcast_to(bins, drawn.shape), np.cumsum(drawn, axis=1), m)


def by_diagnosis_figure(
    classes: Sequence[str], found: Mapping[str, ExpectedSets], asked: float | None = None
) -> go.Figure:
    """One mark per way of calibrating, in a row for each diagnosis and one for all.

    asked: draw coverage, with a line at what was asked for; else set sizes."""
    rows = ["all together", *(as_text(name) for name in classes)]
    fig = figure("mean set size" if asked is None else "coverage", "", height=120 + 46 * len(rows))
    for (name, sets), (colour, symbol) in zip(found.items(), _LOOKS, strict=False):
        sizes = () if sets.size_by_class is None else sets.size_by_class
        fig.add_scatter(
            x=[sets.mean_size, *sizes] if asked is None else [sets.coverage, *sets.coverage_by_class],
            y=rows,
            mode="markers",
            name=name,
            marker={"symbol": symbol, "size": 12, "color": colour},
            hovertemplate=f"%{{y}}: %{{x:{'.2f' if asked is None else '.1%'}}}<extra>{as_text(name)}</extra>",
        )
    if asked is not None:
        fig.add_vline(x=asked, line=GOAL)
        fig.update_xaxes(tickformat=".0%")
    fig.update_yaxes(autorange="reversed")
    return fig


ALPHAS = (0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
EPSILONS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0)
COARSE_ALPHAS, COARSE_EPSILONS = (0.01, 0.03, 0.1, 0.2, 0.5), (0.01, 0.1, 0.5, 1.0, 3.0, 20.0)
BUNDLED_MAP, BUNDLED_N = ASSETS / "tradeoff_map.csv", 1000
MAP_REPETITIONS = 60


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
                found = expected_sets(records, chosen, np.random.default_rng(0), MAP_REPETITIONS)
                sizes[row, column], coverage[row, column] = found.mean_size, found.coverage
            if progress:
                progress(row * len(epsilons) + column + 1, sizes.size)
    return TradeoffMap(n, method, per, np.array(alphas), np.array(epsilons), sizes, coverage)


def map_rows(found: TradeoffMap) -> list[dict[str, object]]:
    """A line for each point; empty where nothing can be promised but every diagnosis."""

    def known(value: float) -> object:
        return "" if np.isnan(value) else round(float(value), 4)

    return [
        {"alpha": alpha, "epsilon": epsilon, "mean set size": known(size), "coverage": known(covered)}
        for alpha, sizes, coverage in zip(found.alphas.tolist(), found.sizes, found.coverage, strict=True)
        for epsilon, size, covered in zip(found.epsilons.tolist(), sizes, coverage, strict=True)
    ]


def bundled_map(method: str, per: str | None) -> TradeoffMap | None:
    """The map of 1,000 of the bundled scores, computed beforehand; None for a rule that it does not have."""
    shape = (len(ALPHAS), len(EPSILONS))
    with BUNDLED_MAP.open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if (row["rule"], row["promise"]) == (method, per or "")]
    if not rows:
        return None
    sizes, coverage = (
        np.array([float(row[name] or "nan") for row in rows]).reshape(shape) for name in ("mean set size", "coverage")
    )
    return TradeoffMap(BUNDLED_N, method, per, np.array(ALPHAS), np.array(EPSILONS), sizes, coverage)


def tradeoff_figure(found: TradeoffMap, here: tuple[float, float] | None = None) -> go.Figure:
    """Contour lines of the mean set size, darker where sets are larger, blank where nothing can be promised.

    here: α and ε to mark."""
    fig = figure(AXES["epsilon"], AXES["alpha"], height=400)
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
    rows, columns = np.nonzero(np.isfinite(found.sizes))
    alphas, epsilons = found.alphas[rows], found.epsilons[columns]
    numbers = "<br>%{customdata[2]:.2f} diagnoses, coverage %{customdata[3]:.1%}"
    fig.add_scatter(
        x=np.log10(epsilons),
        y=np.log10(alphas),
        mode="markers",
        name="click to take to Calibrate",
        marker={"size": 18, "opacity": 0},
        customdata=np.column_stack([alphas, epsilons, found.sizes[rows, columns], found.coverage[rows, columns]]),
        hovertemplate=f"α = %{{customdata[0]:.0%}}, ε = %{{customdata[1]:g}}: click to take to Calibrate{numbers}"
        "<extra></extra>",
        showlegend=False,
    )
    if here is not None:
        fig.add_scatter(
            x=[np.log10(here[1])],
            y=[np.log10(here[0])],
            mode="markers+text",
            name="chosen on Calibrate",
            text=[f"ε = {here[1]:g}"],
            textposition="top center",
            textfont={"size": 14, "color": "black", "shadow": "0 0 4px white, 0 0 4px white"},
            marker={"size": 14, "color": "white", "line": {"color": "black", "width": 2}},
            hoverinfo="skip",
            showlegend=False,
        )
    ticks = [epsilon for epsilon in found.epsilons if f"{epsilon:.0e}"[0] in "125"]  # by their first digit
    fig.update_xaxes(tickvals=np.log10(ticks), ticktext=[f"{e:g}" for e in ticks], showgrid=False, range=[x[0], x[-1]])
    fig.update_yaxes(tickvals=y, ticktext=[f"{a:.0%}" for a in found.alphas], showgrid=False, range=[y[0], y[-1]])
    return fig
