"""`epsilons`: coverage and set size against ε, each with the m* that belongs to it."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from ppsets_core.experiments import findings as shared
from ppsets_core.explore.sweeps import EPSILONS, Sweep, sweep_figure

ALPHA = 0.1


def run(*, epsilons: Sequence[float] = EPSILONS, **options: Any) -> shared.Swept:
    """Every ε on the same splits; `options` as `sweep_sources` takes them."""
    return shared.sweep_sources("epsilon", lambda n: epsilons, ALPHA, **options)


def findings(found: shared.Swept) -> shared.Findings:
    return shared.source_findings(found, "Coverage and set size against ε", {"alpha": ALPHA}, "ε", _sentence)


def _sentence(one: shared.Source, swept: Sweep) -> str:
    falls = []
    for rule, results in swept.results.items():
        first, last = (float(results[place].private.coverage.mean()) for place in (0, -1))
        falls.append(f"from {first:.4f} to {last:.4f} {shared.with_rule(rule)}")
    return (
        f"{one.name} (n = {one.n:,}): from ε = {swept.values[0]:g} to ε = {swept.values[-1]:g} mean coverage "
        f"falls {shared.joined(falls)}; {1 - ALPHA:g} is asked for."
    )


def figures(found: shared.Swept) -> dict[str, go.Figure]:
    """Coverage and set size along ε."""
    return shared.source_figures(found, lambda _, swept, quantity: sweep_figure(swept, quantity))
