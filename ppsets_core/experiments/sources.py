"""The two sources that `bins` and `epsilons` share: a simulated ImageNet classifier and the CoronaHack X-rays."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ppsets_core.experiments.findings import Table
from ppsets_core.experiments.simulated_imagenet import simulated_imagenet, top_accuracy
from ppsets_core.records.bundled import bundled_scores
from ppsets_core.tradeoffs.sweeps import Labelled, Progress, Sweep

IMAGENET, CORONAHACK = "ImageNet, simulated", "CoronaHack"
IMAGENET_N, IMAGENET_EVALUATED, CORONAHACK_N = 30_000, 20_000, 1000


@dataclass(frozen=True, eq=False)
class Source:
    """Records, how many of them calibrate, and how many splits make its means steady."""

    name: str
    records: Labelled
    n: int
    splits: int

    def accuracy(self, top: int = 1) -> float:
        return top_accuracy(self.records, top)


def sources(seed: int) -> tuple[Source, ...]:
    """Both, the simulated one drawn by the seed."""
    simulated = simulated_imagenet(IMAGENET_N + IMAGENET_EVALUATED, np.random.default_rng(seed))
    return Source(IMAGENET, simulated, IMAGENET_N, 100), Source(
        CORONAHACK, Labelled.of(bundled_scores()), CORONAHACK_N, 1000
    )


def table(source: str, sweep: Sweep, column: str) -> Table:
    """Mean coverage and set size of both rules along a sweep."""
    rows = []
    for place, value in enumerate(sweep.values):
        outcomes = [results[place].private for results in sweep.results.values()]
        outcomes.append(next(iter(sweep.results.values()))[place].nonprivate)
        coverage = (round(float(o.coverage.mean()), 4) for o in outcomes)
        rows.append((value, *coverage, *(round(float(o.mean_size.mean()), 3) for o in outcomes)))
    names = (*sweep.results, "non-private")
    columns = (column, *(f"coverage, {name}" for name in names), *(f"size, {name}" for name in names))
    return Table(f"{source}: means over {len(outcomes[0].coverage)} splits", columns, tuple(rows))


@dataclass(frozen=True, eq=False)
class SourceSweep:
    """One source's sweep."""

    source: str
    n: int
    accuracy: float
    sweep: Sweep


def sweep_each(
    of: Sequence[Source], sweep: Callable[..., Sweep], seed: int, splits: int | None, progress: Progress | None
) -> tuple[SourceSweep, ...]:
    """`sweep(source, splits, rng, progress=)` of every source, on splits that the seed alone decides."""
    found = []
    for place, source in enumerate(of):
        rng, step = np.random.default_rng(seed), _part(progress, place, len(of))
        swept = sweep(source, splits or source.splits, rng, progress=step)
        found.append(SourceSweep(source.name, source.n, source.accuracy(), swept))
    return tuple(found)


def _part(progress: Progress | None, place: int, parts: int) -> Progress | None:
    """Progress of one part of several, told as progress of the whole."""
    if progress is None:
        return None
    return lambda done, total: progress(place * 1000 + 1000 * done // total, parts * 1000)
