"""`levels`: how far above 1 − α each rule aims, against n and against ε. Nothing is drawn at random."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ppsets_core.experiments.findings import Findings, Table
from ppsets_core.planning import smallest_n
from ppsets_core.tradeoffs.grids import log_grid
from ppsets_core.tradeoffs.level_curves import LevelCurve, LevelCurves, levels_over_epsilon, levels_over_n
from ppsets_core.tradeoffs.sweeps import Progress
from ppsets_core.validation import METHODS

ALPHA = 0.1
NS = tuple(round(n) for n in np.logspace(2, 4.5, 26))
NS_FIXED = (100, 1000, 10_000)
EPSILONS = log_grid(0.01, 100, 25)
EPSILONS_FIXED = (0.1, 1.0, 10.0)


@dataclass(frozen=True, eq=False)
class Levels:
    over_n: LevelCurves
    over_epsilon: LevelCurves


def run(
    *,
    seed: int = 0,
    progress: Progress | None = None,
    ns: Sequence[int] = NS,
    epsilons: Sequence[float] = EPSILONS,
) -> Levels:
    """The paper's figure for both rules. `seed` is taken as by every experiment, and has nothing to do here."""
    over_n = levels_over_n(ns, EPSILONS_FIXED, ALPHA)
    if progress:
        progress(1, 2)
    over_epsilon = levels_over_epsilon(epsilons, NS_FIXED, ALPHA)
    if progress:
        progress(2, 2)
    return Levels(over_n, over_epsilon)


def findings(result: Levels) -> Findings:
    """The level at a few n and ε, beside the non-private one."""
    by_key = {(c.method, c.fixed): c for c in result.over_n.curves}
    nonprivate = by_key["nonprivate", None].level
    rows = []
    for place in _few(len(result.over_n.x)):
        for epsilon in EPSILONS_FIXED:
            private = (_shown(by_key[method, epsilon].level[place]) for method in METHODS)
            rows.append((int(result.over_n.x[place]), epsilon, *private, round(float(nonprivate[place]), 4)))
    needed = {e: {method: smallest_n(ALPHA, e, method) for method in METHODS} for e in EPSILONS_FIXED}
    least = tuple((e, needed[e]["paper"], needed[e]["sharp"]) for e in EPSILONS_FIXED)
    gaps = [_excess(by_key["paper", e], nonprivate) / _excess(by_key["sharp", e], nonprivate) for e in EPSILONS_FIXED]
    return Findings(
        "Level to aim at",
        {"alpha": ALPHA},
        (
            Table("Level at α = 0.1", ("n", "ε", "paper's rule", "sharp rule", "without privacy"), tuple(rows)),
            Table("Least n with sets that leave out anything", ("ε", "paper's rule", "sharp rule"), least),
        ),
        (
            "The sharp rule aims below the paper's at every n and ε of the figure."
            if all(_below(curves) for curves in (result.over_n, result.over_epsilon))
            else "The sharp rule aims above the paper's somewhere in the figure.",
            f"At the largest n the paper's rule aims {gaps[0]:.1f} (ε = 0.1), {gaps[1]:.1f} (ε = 1) and {gaps[2]:.1f} "
            "(ε = 10) times as far above the non-private level as the sharp rule.",
        ),
        {"over_n": _numbers(result.over_n), "over_epsilon": _numbers(result.over_epsilon), "least_n": needed},
    )


def _few(count: int) -> list[int]:
    return sorted({0, count * 2 // 5, count * 4 // 5, count - 1})


def _shown(level: float) -> float | str:
    return round(float(level), 4) if level < 1 else "too few"


def _excess(curve: LevelCurve, nonprivate: np.ndarray) -> float:
    return float(curve.level[-1] - nonprivate[-1])


def _below(curves: LevelCurves) -> bool:
    """Whether sharp's level is below paper's wherever paper's is of use, and of use there too."""
    by_key = {(c.method, c.fixed): c.level for c in curves.curves}
    pairs = [(by_key["sharp", f], by_key["paper", f]) for method, f in by_key if method == "paper"]
    return all(bool(np.all((sharp < paper) | (paper >= 1))) for sharp, paper in pairs)


def _numbers(curves: LevelCurves) -> dict:
    return {
        curves.over: curves.x,
        "curves": [{"method": c.method, "fixed": c.fixed, "level": c.level} for c in curves.curves],
    }
