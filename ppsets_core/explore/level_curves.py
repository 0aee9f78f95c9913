"""How far above 1 − α each rule must aim, against the number of records or against ε: the paper's figure."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ppsets_core.explore import NONPRIVATE
from ppsets_core.method.nonprivate import conformal_rank
from ppsets_core.method.plan import plan, smallest_n
from ppsets_core.method.rules import RULES


@dataclass(frozen=True, eq=False)
class LevelCurve:
    """The level along `LevelCurves.over`, with the other of n and ε held at `fixed`; 1 or more: too few records."""

    method: str  # a rule's name, or NONPRIVATE
    fixed: float | None
    level: np.ndarray


@dataclass(frozen=True, eq=False)
class LevelCurves:
    """Every curve over the same `x`, which is n or epsilon as `over` says."""

    over: str
    alpha: float
    x: np.ndarray
    curves: tuple[LevelCurve, ...]


def levels_over_n(
    ns: Sequence[int], epsilons: Sequence[float], alpha: float, methods: Sequence[str] | None = None
) -> LevelCurves:
    """One curve per rule and ε, and one without privacy."""
    curves = [
        LevelCurve(method, epsilon, np.array([plan(n, alpha, epsilon, method=method).level for n in ns]))
        for method in methods or RULES
        for epsilon in epsilons
    ]
    nonprivate = LevelCurve(NONPRIVATE, None, np.array([conformal_rank(n, alpha) / n for n in ns]))
    return LevelCurves("n", alpha, np.array(ns), (*curves, nonprivate))


def levels_over_epsilon(
    epsilons: Sequence[float], ns: Sequence[int], alpha: float, methods: Sequence[str] | None = None
) -> LevelCurves:
    """One curve per rule and n, and one without privacy for the largest n."""
    curves = [
        LevelCurve(method, n, np.array([plan(n, alpha, epsilon, method=method).level for epsilon in epsilons]))
        for method in methods or RULES
        for n in ns
    ]
    nonprivate = LevelCurve(NONPRIVATE, None, np.full(len(epsilons), conformal_rank(max(ns), alpha) / max(ns)))
    return LevelCurves("epsilon", alpha, np.array(epsilons), (*curves, nonprivate))


@dataclass(frozen=True, eq=False)
class RecordsNeeded:
    """The least number of records with which each rule promises anything, at each ε."""

    alpha: float
    epsilons: np.ndarray
    records: dict[str, np.ndarray]  # by rule


def records_needed(epsilons: Sequence[float], alpha: float, methods: Sequence[str] | None = None) -> RecordsNeeded:
    """`smallest_n` along ε, for each rule."""
    needed = {m: np.array([smallest_n(alpha, epsilon, m) for epsilon in epsilons]) for m in methods or RULES}
    return RecordsNeeded(alpha, np.array(epsilons), needed)
