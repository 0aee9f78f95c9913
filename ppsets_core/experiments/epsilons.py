"""`epsilons`: coverage and set size against ε, each with the m* that belongs to it."""

from collections.abc import Sequence

from ppsets_core.experiments.findings import Findings, sweep_numbers
from ppsets_core.experiments.sources import Source, SourceSweep, sources, sweep_each, table
from ppsets_core.tradeoffs.grids import EPSILONS
from ppsets_core.tradeoffs.sweeps import Progress, Sweep, sweep_epsilon

ALPHA = 0.1


def run(
    *,
    seed: int = 0,
    splits: int | None = None,
    progress: Progress | None = None,
    of: Sequence[Source] | None = None,
    epsilons: Sequence[float] = EPSILONS,
) -> tuple[SourceSweep, ...]:
    """Every ε on the same splits."""

    def sweep(source: Source, *rest, **options) -> Sweep:
        return sweep_epsilon(source.records, source.n, ALPHA, epsilons, *rest, **options)

    return sweep_each(of or sources(seed), sweep, seed, splits, progress)


def findings(found: tuple[SourceSweep, ...]) -> Findings:
    sentences = []
    for one in found:
        ends = {
            rule: [float(results[place].private.coverage.mean()) for place in (0, -1)]
            for rule, results in one.sweep.results.items()
        }
        first, last = one.sweep.values[0], one.sweep.values[-1]
        sentences.append(
            f"{one.source} (n = {one.n:,}): from ε = {first:g} to ε = {last:g} mean coverage falls from "
            f"{ends['paper'][0]:.4f} to {ends['paper'][1]:.4f} with the paper's rule and from {ends['sharp'][0]:.4f} "
            f"to {ends['sharp'][1]:.4f} with the sharp one; 0.9 is asked for."
        )
    return Findings(
        "Coverage and set size against ε",
        {"alpha": ALPHA, "n": {one.source: one.n for one in found}},
        tuple(table(one.source, one.sweep, "ε") for one in found),
        tuple(sentences),
        {one.source: {"accuracy": one.accuracy, **sweep_numbers(one.sweep)} for one in found},
    )
