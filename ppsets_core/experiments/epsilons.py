"""`epsilons`: coverage and set size against ε, each with the m* that belongs to it."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from ppsets_core.experiments import findings as shared
from ppsets_core.explore.sweeps import EPSILONS, sweep_figure

ALPHA = 0.1


def run(*, epsilons: Sequence[float] = EPSILONS, **options: Any) -> tuple[shared.SourceSweep, ...]:
    """Every ε on the same splits; `options` as `sweep_sources` takes them."""
    return shared.sweep_sources("epsilon", lambda n: epsilons, ALPHA, **options)


def findings(found: Sequence[shared.SourceSweep]) -> shared.Findings:
    return shared.source_findings(found, "Coverage and set size against ε", {"alpha": ALPHA}, "ε", _sentence)


def _sentence(one: shared.SourceSweep) -> str:
    falls = []
    for rule, results in one.sweep.results.items():
        first, last = (float(results[place].private.coverage.mean()) for place in (0, -1))
        falls.append(f"from {first:.4f} to {last:.4f} {shared.with_rule(rule)}")
    return (
        f"{one.source} (n = {one.n:,}): from ε = {one.sweep.values[0]:g} to ε = {one.sweep.values[-1]:g} mean coverage "
        f"falls {shared.joined(falls)}; {1 - ALPHA:g} is asked for."
    )


def figures(found: Sequence[shared.SourceSweep]) -> dict[str, go.Figure]:
    """Coverage and set size along ε."""
    return shared.source_figures(found, lambda one, quantity: sweep_figure(one.sweep, quantity))
