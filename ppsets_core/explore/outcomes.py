"""Random splits summed up for drawing: means with their spread, and histograms already counted."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from ppsets_core.explore import NONPRIVATE
from ppsets_core.explore.sweeps import Sweep
from ppsets_core.method.simulate import Outcome, SplitResult

Series = TypeVar("Series", bound=Hashable)
SPREAD = (5, 95)  # percentiles over the splits


@dataclass(frozen=True, eq=False)
class Trend:
    """A quantity along a sweep, averaged over the splits, and between which values nine splits in ten lie."""

    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray
    margin: np.ndarray  # half-width of a 95% interval for the mean
    trivial: np.ndarray  # where the plan has too few records and every set holds every class


def trends(sweep: Sweep, quantity: str) -> dict[str, Trend]:
    """One trend per rule, and one without privacy on the same splits; `quantity` is "coverage" or "mean_size"."""
    found = {
        method: _trend([getattr(r.private, quantity) for r in results], [r.plan.is_trivial for r in results])
        for method, results in sweep.results.items()
    }
    results = next(iter(sweep.results.values()))
    found[NONPRIVATE] = _trend([getattr(r.nonprivate, quantity) for r in results], [False] * len(results))
    return found


def _trend(values: list[np.ndarray], trivial: list[bool]) -> Trend:
    spread = [np.percentile(v, SPREAD) for v in values]
    return Trend(
        np.array([v.mean() for v in values]),
        np.array([low for low, _ in spread]),
        np.array([high for _, high in spread]),
        np.array([1.96 * v.std(ddof=1) / np.sqrt(len(v)) if len(v) > 1 else np.inf for v in values]),
        np.array(trivial),
    )


@dataclass(frozen=True, eq=False)
class Histogram(Generic[Series]):
    """The share of splits between neighbouring edges, for each series."""

    edges: np.ndarray
    share: dict[Series, np.ndarray]


def histogram(results: Mapping[str, SplitResult], quantity: str, bins: int = 25) -> Histogram[str]:
    """How coverage or mean set size varied over the splits, for each rule and without privacy, all in the same bins."""
    return counted(outcomes_of(results), quantity, bins)


def counted(outcomes: Mapping[Series, Outcome], quantity: str, bins: int) -> Histogram[Series]:
    """In at most `bins` bins, each holding equally many of the values that an evaluation on N records can have."""
    values = {name: getattr(outcome, quantity) for name, outcome in outcomes.items()}
    step = 1 / next(iter(outcomes.values())).size_counts[0].sum()
    together = np.concatenate(list(values.values()))
    low, steps = together.min(), np.rint(np.ptp(together) / step) + 1
    width = np.ceil(steps / bins)
    edges = low + step * (width * np.arange(np.ceil(steps / width) + 1) - 0.5)
    return Histogram(edges, {name: np.histogram(v, edges)[0] / len(v) for name, v in values.items()})


def size_shares(results: Mapping[str, SplitResult]) -> dict[str, np.ndarray]:
    """The share of sets with 0, 1, … K classes over all splits, for each rule and without privacy."""
    counts = {name: outcome.size_counts.sum(axis=0) for name, outcome in outcomes_of(results).items()}
    return {name: count / count.sum() for name, count in counts.items()}


def outcomes_of(results: Mapping[str, SplitResult]) -> dict[str, Outcome]:
    """Each rule's outcome, and the one without privacy that they share."""
    outcomes = {method: result.private for method, result in results.items()}
    return outcomes | {NONPRIVATE: next(iter(results.values())).nonprivate}
