"""α against ε in one picture: the set size to expect at every point, for a number of records and a rule."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ppsets_core.explore.expected_sets import expected_sets
from ppsets_core.explore.labelled import Labelled
from ppsets_core.method.plan import DIAGNOSIS, plan

ALPHAS = (0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
EPSILONS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0)


@dataclass(frozen=True, eq=False)
class TradeoffMap:
    """Mean set sizes, one row per α and one column per ε; nan where nothing can be promised but every diagnosis."""

    n: int
    method: str
    per: str | None
    classes: int
    alphas: np.ndarray
    epsilons: np.ndarray
    sizes: np.ndarray
    coverage: np.ndarray


def tradeoff_map(
    records: Labelled,
    n: int,
    method: str,
    *,
    per: str | None = None,
    alphas: Sequence[float] = ALPHAS,
    epsilons: Sequence[float] = EPSILONS,
    progress: Callable[[int, int], None] | None = None,
) -> TradeoffMap:
    """Every point on the same draws. `progress` hears (done, total) and may raise to cancel."""
    classes = records.probabilities.shape[1]
    number = classes if per == DIAGNOSIS else None
    sizes, coverage = (np.full((len(alphas), len(epsilons)), np.nan) for _ in range(2))
    for row, alpha in enumerate(alphas):
        for column, epsilon in enumerate(epsilons):
            chosen = plan(n, alpha, epsilon, method=method, per=per, classes=number)
            if not chosen.is_trivial:
                found = expected_sets(records, chosen, np.random.default_rng(0))
                sizes[row, column], coverage[row, column] = found.mean_size, found.coverage
            if progress:
                progress(row * len(epsilons) + column + 1, sizes.size)
    return TradeoffMap(n, method, per, classes, np.array(alphas), np.array(epsilons), sizes, coverage)
