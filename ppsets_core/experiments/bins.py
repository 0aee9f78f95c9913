"""`bins`: coverage and set size against the number of bins m, at ε = 5."""

from collections.abc import Sequence
from typing import Unpack

import numpy as np
import plotly.graph_objects as go

from ppsets_core.experiments.findings import Findings, joined, with_rule
from ppsets_core.experiments.sources import (
    Options,
    Source,
    SourceSweep,
    figures_of_each,
    findings_of_each,
    sweep_each,
)
from ppsets_core.explore.figures.splits import sweep_figure
from ppsets_core.explore.figures.style import look_of
from ppsets_core.explore.outcomes import trends
from ppsets_core.explore.sweeps import Progress, Sweep, sweep_m
from ppsets_core.method.plan import plan
from ppsets_core.method.rules import RULES

ALPHA, EPSILON = 0.1, 5.0
BINS = (30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
FLAT = (1000, 1_000_000)


def run(*, bins: Sequence[int] = BINS, **options: Unpack[Options]) -> tuple[SourceSweep, ...]:
    """Every m, among them each rule's m*, on the same splits."""

    def sweep(source: Source, splits: int, rng: np.random.Generator, progress: Progress | None) -> Sweep:
        ms = sorted({*bins, *best_m(source.n).values()})
        return sweep_m(source.records, source.n, ALPHA, EPSILON, ms, splits, rng, progress=progress)

    return sweep_each(sweep, **options)


def best_m(n: int) -> dict[str, int]:
    """Each rule's m*."""
    return {method: plan(n, ALPHA, EPSILON, method=method).m for method in RULES}


def coverage_range(sweep: Sweep, method: str, low: int, high: int) -> tuple[float, float]:
    """The least and the largest mean coverage among low ≤ m ≤ high."""
    means = [
        r.private.coverage.mean() for m, r in zip(sweep.values, sweep.results[method], strict=True) if low <= m <= high
    ]
    return float(min(means)), float(max(means))


def findings(found: Sequence[SourceSweep]) -> Findings:
    return findings_of_each(
        found,
        "Coverage and set size against the number of bins",
        {"alpha": ALPHA, "epsilon": EPSILON},
        "m",
        _sentence,
        lambda one: {"best_m": best_m(one.n)},
    )


def _sentence(one: SourceSweep) -> str:
    spans = []
    for rule, m in best_m(one.n).items():
        low, high = coverage_range(one.sweep, rule, *FLAT)
        spans.append(f"between {low:.4f} and {high:.4f} {with_rule(rule)} (m* = {m:,})")
    return (
        f"{one.source} (n = {one.n:,}, accuracy {one.accuracy:.3f}): from m = {FLAT[0]:,} to {FLAT[1]:,} mean coverage "
        f"stays {joined(spans)}."
    )


def figures(found: Sequence[SourceSweep]) -> dict[str, go.Figure]:
    """Coverage and set size along m, each rule's m* marked."""
    return figures_of_each(found, _figure)


def _figure(one: SourceSweep, quantity: str) -> go.Figure:
    drawn = sweep_figure(one.sweep, quantity)
    for rule, m in best_m(one.n).items():
        drawn.add_scatter(
            x=[m],
            y=[trends(one.sweep, quantity)[rule].mean[one.sweep.values.index(m)]],
            mode="markers",
            name=f"m* = {m:,}",
            marker={"symbol": "star", "size": 16, "color": look_of(rule).colour},
        )
    decades = [10**power for power in range(1, 7)]
    drawn.update_xaxes(tickvals=decades, ticktext=[f"{m:,}" for m in decades])
    return drawn
