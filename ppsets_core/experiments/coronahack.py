"""`coronahack`: 1,000 random splits of the held-out X-rays, 1,000 to calibrate and 500 to evaluate, as in the paper."""

import numpy as np

from ppsets_core.experiments.findings import Findings, Table, sweep_numbers
from ppsets_core.records.bundled import bundled_scores
from ppsets_core.simulation import Outcome, SplitResult
from ppsets_core.tradeoffs.sweeps import Labelled, Progress, Sweep, sweep_epsilon

ALPHA, N = 0.1, 1000
PAPERS_EPSILON, PAPERS_MEDIAN = 10.0, 0.904
EPSILONS = (0.1, 0.2, 0.5, 1.0, 3.0, PAPERS_EPSILON)


def run(
    *, seed: int = 0, splits: int = 1000, progress: Progress | None = None, records: Labelled | None = None
) -> Sweep:
    """Splits are by X-ray, as in the paper, so one patient's X-rays may fall on both sides."""
    records = records or Labelled.of(bundled_scores())
    return sweep_epsilon(records, N, ALPHA, EPSILONS, splits, np.random.default_rng(seed), progress=progress)


def findings(sweep: Sweep) -> Findings:
    """Median coverage and mean set size at every ε, and the sets' sizes at the paper's."""
    rows = tuple(_row(epsilon, sweep.at(epsilon)) for epsilon in sweep.values)
    at = sweep.at(PAPERS_EPSILON)
    outcomes = {**{rule: r.private for rule, r in at.items()}, "non-private": at["paper"].nonprivate}
    shares = tuple((name, *_size_shares(outcome)) for name, outcome in outcomes.items())
    smaller = [sweep.at(e)["sharp"].private.mean_size.mean() < sweep.at(e)["paper"].private.mean_size.mean()
               for e in sweep.values if e != PAPERS_EPSILON]  # fmt: skip
    medians = {name: np.median(outcome.coverage) for name, outcome in outcomes.items()}
    return Findings(
        "CoronaHack: coverage and set size over random splits",
        {"alpha": ALPHA, "n": N, "splits": len(at["paper"].private.coverage)},
        (
            Table("Median coverage and mean set size", _COLUMNS, rows),
            Table(
                f"Share of sets of each size at ε = {PAPERS_EPSILON:g}",
                ("rule", *(f"{size}" for size in range(len(shares[0]) - 1))),
                shares,
            ),
        ),
        (
            f"At ε = 10 the median coverage is {medians['paper']:.3f} with the paper's rule, {medians['sharp']:.3f} "
            f"with the sharp one and {medians['non-private']:.3f} without privacy; the paper reports {PAPERS_MEDIAN}.",
            f"The sharp rule's sets are smaller on average in {sum(smaller)} of the {len(smaller)} rows below ε = 10.",
        ),
        sweep_numbers(sweep),
    )


_COLUMNS = (
    "ε",
    "coverage, paper's rule",
    "coverage, sharp",
    "coverage, non-private",
    "size, paper's rule",
    "size, sharp",
    "size, non-private",
)


def _row(epsilon: float, at: dict[str, SplitResult]) -> tuple[float, ...]:
    outcomes = (at["paper"].private, at["sharp"].private, at["paper"].nonprivate)
    medians = (round(float(np.median(o.coverage)), 4) for o in outcomes)
    return (epsilon, *medians, *(round(float(o.mean_size.mean()), 3) for o in outcomes))


def _size_shares(outcome: Outcome) -> list[str]:
    counts = outcome.size_counts.sum(axis=0)
    return [f"{100 * share:.1f}%" for share in counts / counts.sum()]
