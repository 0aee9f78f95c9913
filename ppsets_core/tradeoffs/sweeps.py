"""Coverage and set size over random splits, against ε, the number of bins m, or the number of records n."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ppsets_core.errors import InputError
from ppsets_core.records import Records
from ppsets_core.simulation import Setting, SplitResult, random_splits
from ppsets_core.validation import METHODS

Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Sweep:
    """One result a rule and value; `over` says what the values are: epsilon, m or n."""

    over: str
    values: tuple[float, ...]
    results: dict[str, tuple[SplitResult, ...]]  # by rule

    def at(self, value: float) -> dict[str, SplitResult]:
        """Each rule's result at one of the values."""
        place = self.values.index(value)
        return {method: results[place] for method, results in self.results.items()}


@dataclass(frozen=True)
class Labelled:
    """Public or simulated records to split: probabilities (N, K) and class numbers (N,)."""

    probabilities: np.ndarray
    labels: np.ndarray

    @classmethod
    def of(cls, records: Records) -> "Labelled":
        return cls(records.probabilities, records.labels)


def sweep_epsilon(
    records: Labelled,
    n: int,
    alpha: float,
    epsilons: Sequence[float],
    repetitions: int,
    rng: np.random.Generator,
    *,
    methods: Sequence[str] = METHODS,
    progress: Progress | None = None,
) -> Sweep:
    """Every ε on the same splits. `progress` hears (done, total) and may raise to cancel."""
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
    methods: Sequence[str] = METHODS,
    progress: Progress | None = None,
) -> Sweep:
    """Every number of bins on the same splits, each with the γ* that belongs to it."""
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
    methods: Sequence[str] = METHODS,
    progress: Progress | None = None,
) -> Sweep:
    """Calibrate on n records and evaluate on the rest, for each n: each has splits of its own."""
    settings = [Setting(alpha, epsilon, method) for method in methods]
    by_n = []
    for place, n in enumerate(ns):
        step = _part(progress, place, len(ns))
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


def _part(progress: Progress | None, place: int, parts: int) -> Progress | None:
    """Progress of one part of several, told as progress of the whole."""
    if progress is None:
        return None
    return lambda done, total: progress(place * total + done, parts * total)
