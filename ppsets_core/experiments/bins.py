"""`bins`: coverage and set size against the number of bins m, at ε = 5."""

from collections.abc import Sequence

from ppsets_core.experiments.findings import Findings, sweep_numbers
from ppsets_core.experiments.sources import Source, SourceSweep, sources, sweep_each, table
from ppsets_core.planning import plan
from ppsets_core.tradeoffs.sweeps import Progress, Sweep, sweep_m
from ppsets_core.validation import METHODS

ALPHA, EPSILON = 0.1, 5.0
BINS = (30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000)


def run(
    *,
    seed: int = 0,
    splits: int | None = None,
    progress: Progress | None = None,
    of: Sequence[Source] | None = None,
    bins: Sequence[int] = BINS,
) -> tuple[SourceSweep, ...]:
    """Every m, among them each rule's m*, on the same splits."""

    def sweep(source: Source, *rest, **options) -> Sweep:
        ms = tuple(sorted({*bins, *best_m(source.n).values()}))
        return sweep_m(source.records, source.n, ALPHA, EPSILON, ms, *rest, **options)

    return sweep_each(of or sources(seed), sweep, seed, splits, progress)


def best_m(n: int) -> dict[str, int]:
    return {method: plan(n, ALPHA, EPSILON, method=method).m for method in METHODS}


def coverage_range(sweep: Sweep, method: str, low: int, high: int) -> tuple[float, float]:
    """The least and the largest mean coverage among low ≤ m ≤ high."""
    means = [
        r.private.coverage.mean() for m, r in zip(sweep.values, sweep.results[method], strict=True) if low <= m <= high
    ]
    return float(min(means)), float(max(means))


def findings(found: tuple[SourceSweep, ...]) -> Findings:
    sentences = []
    for one in found:
        best = best_m(one.n)
        spans = {rule: coverage_range(one.sweep, rule, 1000, 1_000_000) for rule in one.sweep.results}
        sentences.append(
            f"{one.source} (n = {one.n:,}, accuracy {one.accuracy:.3f}): from m = 1,000 to 1,000,000 mean coverage "
            f"stays between {spans['paper'][0]:.4f} and {spans['paper'][1]:.4f} with the paper's rule (m* = "
            f"{best['paper']:,}), between {spans['sharp'][0]:.4f} and {spans['sharp'][1]:.4f} with the sharp one "
            f"(m* = {best['sharp']:,})."
        )
    return Findings(
        "Coverage and set size against the number of bins",
        {"alpha": ALPHA, "epsilon": EPSILON, "n": {one.source: one.n for one in found}},
        tuple(table(one.source, one.sweep, "m") for one in found),
        tuple(sentences),
        {one.source: {"accuracy": one.accuracy, "best_m": best_m(one.n), **sweep_numbers(one.sweep)} for one in found},
    )
