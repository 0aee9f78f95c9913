"""Coverage and set size over random splits, against ε, the number of bins m, or the number of records n."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ppsets_core.errors import InputError
from ppsets_core.explore.labelled import Labelled
from ppsets_core.method.rules import RULES
from ppsets_core.method.simulate import Setting, SplitResult, random_splits

Progress = Callable[[int, int], None]
"""Hears (done, total)."""

EPSILONS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0)
BINS = (10, 30, 100, 300, 1000, 3000, 10_000, 100_000)


def log_grid(low: float, high: float, count: int) -> tuple[float, ...]:
    """`count` values from low to high, evenly spread on a logarithmic axis and rounded to three digits."""
    return tuple(float(f"{value:.3g}") for value in np.geomspace(low, high, count))


def record_counts(low: int, high: int, count: int) -> tuple[int, ...]:
    """Up to `count` numbers of records from low to high, all but the last rounded to three digits."""
    return tuple(sorted({*(int(value) for value in log_grid(low, high, count)[:-1]), high}))


@dataclass(frozen=True, eq=False)
class Sweep:
    """One result per rule and value; `over` says what the values are: epsilon, m or n."""

    over: str
    values: tuple[float, ...]
    results: dict[str, tuple[SplitResult, ...]]  # by rule

    def at(self, value: float) -> dict[str, SplitResult]:
        """Each rule's result at one of the values."""
        place = self.values.index(value)
        return {method: results[place] for method, results in self.results.items()}


def sweep_epsilon(
    records: Labelled,
    n: int,
    alpha: float,
    epsilons: Sequence[float],
    repetitions: int,
    rng: np.random.Generator,
    *,
    methods: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> Sweep:
    """Every ε on the same splits, each with the m* that belongs to it. `progress` may raise to cancel."""
    methods = tuple(methods or RULES)
    settings = [Setting(alpha, epsilon, method) for method in methods for epsilon in epsilons]
    return _one_n(records, n, settings, "epsilon", tuple(epsilons), repetitions, rng, methods, progress)


def sweep_m(
    records: Labelled,
    n: int,
    alpha: float,
    epsilon: float,
    ms: Sequence[int],
    repetitions: int,
    rng: np.random.Generator,
    *,
    methods: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> Sweep:
    """Every number of bins on the same splits, each with the γ* that belongs to it."""
    methods = tuple(methods or RULES)
    settings = [Setting(alpha, epsilon, method, m=m) for method in methods for m in ms]
    return _one_n(records, n, settings, "m", tuple(ms), repetitions, rng, methods, progress)


def sweep_n(
    records: Labelled,
    ns: Sequence[int],
    alpha: float,
    epsilon: float,
    repetitions: int,
    rng: np.random.Generator,
    *,
    methods: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> Sweep:
    """Calibrate on n records and evaluate on the rest, for each n: each has splits of its own."""
    methods = tuple(methods or RULES)
    settings = [Setting(alpha, epsilon, method) for method in methods]
    by_n = []
    for place, n in enumerate(ns):
        step = part_of(progress, place, len(ns))
        by_n.append(random_splits(records.probabilities, records.labels, n, settings, repetitions, rng, progress=step))
    return Sweep("n", tuple(ns), {method: tuple(r[i] for r in by_n) for i, method in enumerate(methods)})


def _one_n(
    records: Labelled,
    n: int,
    settings: list[Setting],
    over: str,
    values: tuple[float, ...],
    repetitions: int,
    rng: np.random.Generator,
    methods: Sequence[str],
    progress: Progress | None,
) -> Sweep:
    if not values:
        raise InputError(f"There is no {over} to try; give at least one.")
    results = random_splits(records.probabilities, records.labels, n, settings, repetitions, rng, progress=progress)
    rows = [tuple(results[i : i + len(values)]) for i in range(0, len(results), len(values))]
    return Sweep(over, values, dict(zip(methods, rows, strict=True)))


def part_of(progress: Progress | None, place: int, parts: int) -> Progress | None:
    """Progress of one part of several, told as progress of the whole."""
    if progress is None:
        return None
    return lambda done, total: progress(place * total + done, parts * total)
