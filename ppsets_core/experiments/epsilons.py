"""`epsilons`: coverage and set size against ε, each with the m* that belongs to it."""

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
from ppsets_core.explore.sweeps import EPSILONS, Progress, Sweep, sweep_epsilon

ALPHA = 0.1


def run(*, epsilons: Sequence[float] = EPSILONS, **options: Unpack[Options]) -> tuple[SourceSweep, ...]:
    """Every ε on the same splits."""

    def sweep(source: Source, splits: int, rng: np.random.Generator, progress: Progress | None) -> Sweep:
        return sweep_epsilon(source.records, source.n, ALPHA, epsilons, splits, rng, progress=progress)

    return sweep_each(sweep, **options)


def findings(found: Sequence[SourceSweep]) -> Findings:
    return findings_of_each(found, "Coverage and set size against ε", {"alpha": ALPHA}, "ε", _sentence)


def _sentence(one: SourceSweep) -> str:
    falls = []
    for rule, results in one.sweep.results.items():
        first, last = (float(results[place].private.coverage.mean()) for place in (0, -1))
        falls.append(f"from {first:.4f} to {last:.4f} {with_rule(rule)}")
    return (
        f"{one.source} (n = {one.n:,}): from ε = {one.sweep.values[0]:g} to ε = {one.sweep.values[-1]:g} mean coverage "
        f"falls {joined(falls)}; {1 - ALPHA:g} is asked for."
    )


def figures(found: Sequence[SourceSweep]) -> dict[str, go.Figure]:
    """Coverage and set size along ε."""
    return figures_of_each(found, lambda one, quantity: sweep_figure(one.sweep, quantity))
