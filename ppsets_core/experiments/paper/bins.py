"""`bins`: coverage and set size against the number of bins m, at ε = 5."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ppsets_core.experiments.paper.findings import Findings, sweep_numbers
from ppsets_core.experiments.paper.sources import Source, part, sources, table
from ppsets_core.experiments.sweeps import Progress, Sweep, sweep_m
from ppsets_core.planning import plan
from ppsets_core.validation import METHODS

ALPHA, EPSILON = 0.1, 5.0
BINS = (30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000)


@dataclass(frozen=True, eq=False)
class BinsSweep:
    """One source's sweep over m, which includes each rule's m*."""

    source: str
    n: int
    accuracy: float
    best_m: dict[str, int]
    sweep: Sweep


def run(
    *,
    seed: int = 0,
    splits: int | None = None,
    progress: Progress | None = None,
    of: Sequence[Source] | None = None,
    bins: Sequence[int] = BINS,
) -> tuple[BinsSweep, ...]:
    """Every m on the same splits."""
    of = of or sources(seed)
    found = []
    for place, source in enumerate(of):
        best = {method: plan(source.n, ALPHA, EPSILON, method=method).m for method in METHODS}
        ms = tuple(sorted({*bins, *best.values()}))
        rng, step = np.random.default_rng(seed), part(progress, place, len(of))
        sweep = sweep_m(source.records, source.n, ALPHA, EPSILON, ms, splits or source.splits, rng, progress=step)
        found.append(BinsSweep(source.name, source.n, source.accuracy(), best, sweep))
    return tuple(found)


def coverage_range(sweep: Sweep, method: str, low: int, high: int) -> tuple[float, float]:
    """The least and the largest mean coverage among low ≤ m ≤ high."""
    means = [
        r.private.coverage.mean() for m, r in zip(sweep.values, sweep.results[method], strict=True) if low <= m <= high
    ]
    return float(min(means)), float(max(means))


def findings(found: tuple[BinsSweep, ...]) -> Findings:
    sentences = []
    for one in found:
        spans = {rule: coverage_range(one.sweep, rule, 1000, 1_000_000) for rule in one.sweep.results}
        sentences.append(
            f"{one.source} (n = {one.n:,}, accuracy {one.accuracy:.3f}): from m = 1,000 to 1,000,000 mean coverage "
            f"stays between {spans['paper'][0]:.4f} and {spans['paper'][1]:.4f} with the paper's rule (m* = "
            f"{one.best_m['paper']:,}), between {spans['sharp'][0]:.4f} and {spans['sharp'][1]:.4f} with the sharp one "
            f"(m* = {one.best_m['sharp']:,})."
        )
    return Findings(
        "Coverage and set size against the number of bins",
        {"alpha": ALPHA, "epsilon": EPSILON, "n": {one.source: one.n for one in found}},
        tuple(table(one.source, one.sweep, "m") for one in found),
        tuple(sentences),
        {one.source: {"accuracy": one.accuracy, "best_m": one.best_m, **sweep_numbers(one.sweep)} for one in found},
    )
