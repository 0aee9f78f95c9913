"""`bins`: coverage and set size against the number of bins m, at ε = 5."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from ppsets_core.experiments import findings as shared
from ppsets_core.explore.style import look_of
from ppsets_core.explore.sweeps import Sweep, sweep_figure, trends
from ppsets_core.method.plan import plan
from ppsets_core.method.rules import RULES

ALPHA, EPSILON = 0.1, 5.0
BINS = (30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
FLAT = (1000, 1_000_000)


def run(*, bins: Sequence[int] = BINS, **options: Any) -> shared.Swept:
    """Every m, among them each rule's m*, on the same splits; `options` as `sweep_sources` takes them."""
    return shared.sweep_sources("m", lambda n: sorted({*bins, *best_m(n).values()}), ALPHA, EPSILON, **options)


def best_m(n: int) -> dict[str, int]:
    """Each rule's m*."""
    return {method: plan(n, ALPHA, EPSILON, method=method).m for method in RULES}


def coverage_range(swept: Sweep, method: str, low: int, high: int) -> tuple[float, float]:
    """The least and the largest mean coverage among low ≤ m ≤ high."""
    pairs = zip(swept.values, swept.results[method], strict=True)
    means = [float(result.private.coverage.mean()) for m, result in pairs if low <= m <= high]
    return min(means), max(means)


def findings(found: shared.Swept) -> shared.Findings:
    title, settings = "Coverage and set size against the number of bins", {"alpha": ALPHA, "epsilon": EPSILON}
    return shared.source_findings(found, title, settings, "m", _sentence, lambda one: {"best_m": best_m(one.n)})


def _sentence(one: shared.Source, swept: Sweep) -> str:
    spans = []
    for rule, m in best_m(one.n).items():
        low, high = coverage_range(swept, rule, *FLAT)
        spans.append(f"between {low:.4f} and {high:.4f} {shared.with_rule(rule)} (m* = {m:,})")
    return (
        f"{one.name} (n = {one.n:,}, accuracy {one.records.top_accuracy():.3f}): from m = {FLAT[0]:,} to {FLAT[1]:,} "
        f"mean coverage stays {shared.joined(spans)}."
    )


def figures(found: shared.Swept) -> dict[str, go.Figure]:
    """Coverage and set size along m, each rule's m* marked."""
    return shared.source_figures(found, _figure)


def _figure(one: shared.Source, swept: Sweep, quantity: str) -> go.Figure:
    fig = sweep_figure(swept, quantity)
    means = trends(swept, quantity)
    for rule, m in best_m(one.n).items():
        mean = means[rule].mean[swept.values.index(m)]
        star = {"symbol": "star", "size": 16, "color": look_of(rule).colour}
        fig.add_scatter(x=[m], y=[mean], mode="markers", name=f"m* = {m:,}", marker=star)
    decades = [10**power for power in range(1, 7)]
    fig.update_xaxes(tickvals=decades, ticktext=[f"{m:,}" for m in decades])
    return fig
