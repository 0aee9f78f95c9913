"""What `bins` and `epsilons` share: their records, a simulated ImageNet classifier and the CoronaHack X-rays, and how a
sweep over each is run, told and drawn."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np
import plotly.graph_objects as go

from ppsets_core.data.bundled import bundled_scores
from ppsets_core.experiments.findings import Findings, sweep_numbers, sweep_table
from ppsets_core.experiments.simulated_imagenet import simulated_imagenet
from ppsets_core.explore.figures.splits import QUANTITIES
from ppsets_core.explore.labelled import Labelled
from ppsets_core.explore.sweeps import Progress, Sweep, part_of

IMAGENET, CORONAHACK = "ImageNet, simulated", "CoronaHack"
IMAGENET_N, IMAGENET_EVALUATED, CORONAHACK_N = 30_000, 20_000, 1000


@dataclass(frozen=True, eq=False)
class Source:
    """Records, how many of them calibrate, and how many splits make its means steady."""

    name: str
    records: Labelled
    n: int
    splits: int


@dataclass(frozen=True, eq=False)
class SourceSweep:
    """The sweep over one source's records."""

    source: str
    n: int
    accuracy: float
    sweep: Sweep


class Options(TypedDict, total=False):
    """What both experiments take; `of` replaces the sources."""

    seed: int
    splits: int | None
    progress: Progress | None
    of: Sequence[Source] | None


def sources(seed: int) -> tuple[Source, ...]:
    """Both, the simulated one drawn by the seed."""
    simulated = simulated_imagenet(IMAGENET_N + IMAGENET_EVALUATED, np.random.default_rng(seed))
    return (
        Source(IMAGENET, simulated, IMAGENET_N, splits=100),
        Source(CORONAHACK, Labelled.of(bundled_scores()), CORONAHACK_N, splits=1000),
    )


def sweep_each(
    sweep: Callable[[Source, int, np.random.Generator, Progress | None], Sweep],
    *,
    seed: int = 0,
    splits: int | None = None,
    progress: Progress | None = None,
    of: Sequence[Source] | None = None,
) -> tuple[SourceSweep, ...]:
    """`sweep(source, splits, rng, progress)` of every source, on splits that the seed alone decides."""
    found = []
    chosen = of or sources(seed)
    for place, source in enumerate(chosen):
        rng, step = np.random.default_rng(seed), part_of(progress, place, len(chosen))
        swept = sweep(source, splits or source.splits, rng, step)
        found.append(SourceSweep(source.name, source.n, source.records.top_accuracy(), swept))
    return tuple(found)


def findings_of_each(
    found: Sequence[SourceSweep],
    title: str,
    settings: Mapping[str, float],
    column: str,
    sentence: Callable[[SourceSweep], str],
    numbers: Callable[[SourceSweep], dict[str, Any]] = lambda one: {},
) -> Findings:
    """One table and one sentence per source; `numbers` adds to what is kept of each."""
    return Findings(
        title,
        {**settings, "n": {one.source: one.n for one in found}},
        tuple(sweep_table(f"{one.source}: means over {_splits(one)} splits", one.sweep, column) for one in found),
        tuple(sentence(one) for one in found),
        {one.source: {"accuracy": one.accuracy, **numbers(one), **sweep_numbers(one.sweep)} for one in found},
    )


def figures_of_each(
    found: Sequence[SourceSweep], draw: Callable[[SourceSweep, str], go.Figure]
) -> dict[str, go.Figure]:
    """Coverage and set size, one pair of figures per source."""
    return {f"{one.source}: {title}": draw(one, quantity) for one in found for quantity, title in QUANTITIES.items()}


def _splits(one: SourceSweep) -> int:
    return len(next(iter(one.sweep.results.values()))[0].private.coverage)
