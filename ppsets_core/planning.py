"""The plan: m*, γ*, the level or rank to aim at and the coverage promised, from n, α and ε alone. Costs no privacy."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ppsets_core import levels
from ppsets_core.errors import InputError
from ppsets_core.mechanism import Mechanism, PaperQuantile, SharpQuantile
from ppsets_core.uniform_scores import expected_output, least_expected_output
from ppsets_core.validation import (
    LARGEST_EPSILON,
    LARGEST_N,
    LEAST_EPSILON,
    check_alpha,
    check_epsilon,
    check_gamma,
    check_m,
    check_method,
    check_n,
)

BIN_GRIDS = {
    "paper": tuple(int(m) for m in np.unique(np.round(np.logspace(2, 6, 50)))),
    "sharp": tuple(int(m) for m in np.unique(np.round(np.logspace(1, 6, 60)))),
}


@dataclass(frozen=True)
class Plan:
    """Everything about a calibration that can be known, and shown, before the data is touched.

    `coverage_upper` is for evenly spread scores: largest bin mass 1/m. `gamma` belongs to the paper's rule, `rank` to
    the sharp one, whose `level` is its rank/n; a level of 1 or more means too few records.
    """

    n: int
    alpha: float
    epsilon: float
    method: str
    m: int
    gamma: float | None
    level: float
    rank: int | None
    coverage_lower: float
    coverage_upper: float

    @property
    def is_trivial(self) -> bool:
        """Too few records for this α and ε: ŝ = 1, every set holds every label, and no privacy is spent."""
        return self.level >= 1 if self.method == "paper" else self.rank is None

    @property
    def mechanism(self) -> Mechanism:
        """The exponential mechanism that draws ŝ; a trivial plan has none."""
        if self.is_trivial:
            raise InputError("This plan is trivial: ŝ is 1 and nothing is drawn.")
        if self.method == "paper":
            return PaperQuantile(self.level, self.epsilon)
        return SharpQuantile(self.rank, self.epsilon)


def plan(
    n: int, alpha: float, epsilon: float, *, method: str = "paper", m: int | None = None, gamma: float | None = None
) -> Plan:
    """The plan for n records; m* and γ* are chosen where they are not given. Deterministic and data-independent.

    >>> p = plan(1000, 0.1, 1.0, m=10_000)
    >>> round(p.gamma, 6), round(p.level, 6), p.is_trivial
    (0.022102, 0.933546, False)
    """
    n, alpha, epsilon, method = check_n(n), check_alpha(alpha), check_epsilon(epsilon), check_method(method)
    if method == "sharp" and gamma is not None:
        raise InputError("gamma belongs to the paper's rule; the sharp rule has none. Leave it out.")
    if gamma is not None:
        gamma = check_gamma(gamma)
    m = best_m(n, alpha, epsilon, method, gamma) if m is None else check_m(m)
    return _paper_plan(n, alpha, epsilon, m, gamma) if method == "paper" else _sharp_plan(n, alpha, epsilon, m)


def _paper_plan(n: int, alpha: float, epsilon: float, m: int, gamma: float | None) -> Plan:
    gamma = levels.best_gamma(n, alpha, epsilon) if gamma is None else gamma
    level = levels.paper_level(n, alpha, epsilon, m, gamma)
    lower, upper = 1.0, 1.0
    if level < 1:
        lower, upper = 1 - alpha, levels.paper_upper_bound(n, alpha, epsilon, m, gamma, level, p=1 / m)
    return Plan(n, alpha, epsilon, "paper", m, gamma, level, None, lower, upper)


def _sharp_plan(n: int, alpha: float, epsilon: float, m: int) -> Plan:
    rank = levels.sharp_rank(n, alpha, epsilon, m)
    level = rank / n
    if rank > n:
        return Plan(n, alpha, epsilon, "sharp", m, None, level, None, 1.0, 1.0)
    lower = levels.sharp_lower_bound(n, epsilon, m, rank)
    upper = levels.sharp_upper_bound(n, epsilon, m, rank, p=1 / m)
    return Plan(n, alpha, epsilon, "sharp", m, None, level, rank, lower, upper)


@lru_cache(maxsize=1024)
def best_m(n: int, alpha: float, epsilon: float, method: str, gamma: float | None = None) -> int:
    """m*: the number of bins on the rule's grid with the least expected ŝ on uniform scores, the least such m on ties.

    Fewer bins cost resolution, more bins cost level. One m near the usual best is tried first, so that most others need
    no more than their bound from below.
    """
    if method == "paper" and gamma is None:
        gamma = levels.best_gamma(n, alpha, epsilon)
    grid = BIN_GRIDS[method]
    usual = min(grid, key=lambda m: abs(3 * m - n * epsilon))
    best = (1.0, grid[0])
    for m in (usual, *grid):
        candidate = plan(n, alpha, epsilon, method=method, m=m, gamma=gamma)
        if not candidate.is_trivial and least_expected_output(candidate.mechanism, n, m) <= best[0]:
            best = min(best, (expected_output(candidate.mechanism, n, m), m))
    return best[1]


def smallest_n(alpha: float, epsilon: float, method: str = "paper", *, m: int | None = None) -> int:
    """The least number of records whose plan is not trivial. More records never turn a plan trivial again."""
    m = _easiest_m(m, method)
    low, high = 0, 1
    while plan(high, alpha, epsilon, method=method, m=m).is_trivial:
        low, high = high, 2 * high
        if high > LARGEST_N:
            raise InputError(f"No data set below {LARGEST_N:.0e} records is enough for this alpha and epsilon.")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if plan(middle, alpha, epsilon, method=method, m=m).is_trivial else (low, middle)
    return high


def smallest_epsilon(n: int, alpha: float, method: str = "paper", *, m: int | None = None) -> float:
    """The least ε, to the last bit of a float, with which n records give a plan that is not trivial."""
    m = _easiest_m(m, method)
    low, high = LEAST_EPSILON, LARGEST_EPSILON
    if plan(n, alpha, high, method=method, m=m).is_trivial:
        raise InputError(
            f"{n} records are too few at alpha = {alpha:g} whatever epsilon is; "
            f"at least {smallest_n(alpha, high, method, m=m)} are needed."
        )
    if not plan(n, alpha, low, method=method, m=m).is_trivial:
        return low
    while low < (middle := low + (high - low) / 2) < high:
        low, high = (middle, high) if plan(n, alpha, middle, method=method, m=m).is_trivial else (low, middle)
    return high


def _easiest_m(m: int | None, method: str) -> int:
    """Levels and ranks grow with m, so the grid's least m is the last to turn trivial."""
    return BIN_GRIDS[check_method(method)][0] if m is None else check_m(m)
