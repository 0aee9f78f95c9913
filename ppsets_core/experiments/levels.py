"""`levels`: how far above 1 − α each rule aims, against n and against ε. Nothing is drawn at random."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from ppsets_core.experiments.findings import Findings, Table
from ppsets_core.explore import NONPRIVATE, label_of
from ppsets_core.explore.level_curves import LevelCurves, level_curves, level_figure
from ppsets_core.explore.sweeps import log_grid
from ppsets_core.method.plan import smallest_n
from ppsets_core.method.rules import RULES
from ppsets_core.method.rules.paper import Paper
from ppsets_core.progress import Progress

ALPHA = 0.1
NS = tuple(round(n) for n in np.logspace(2, 4.5, 26))
NS_FIXED = (100, 1000, 10_000)
EPSILONS = log_grid(0.01, 100, 25)
EPSILONS_FIXED = (0.1, 1.0, 10.0)


def run(
    *, seed: int = 0, progress: Progress | None = None, ns: Sequence[int] = NS, epsilons: Sequence[float] = EPSILONS
) -> tuple[LevelCurves, LevelCurves]:
    """The paper's figure, for every rule, over n and over ε. `seed` and `progress`, common to all, are not needed."""
    return level_curves("n", ns, EPSILONS_FIXED, ALPHA), level_curves("epsilon", epsilons, NS_FIXED, ALPHA)


def findings(result: tuple[LevelCurves, LevelCurves]) -> Findings:
    """The level at a few n and ε, beside the non-private one."""
    over_n, over_epsilon = result
    levels, ns = over_n.levels, over_n.x
    names = tuple(rule.label for rule in RULES.values())
    few = sorted({0, len(ns) * 2 // 5, len(ns) * 4 // 5, len(ns) - 1})
    rows: list[tuple[str | float, ...]] = []
    for place, epsilon in ((place, epsilon) for place in few for epsilon in EPSILONS_FIXED):
        private = (levels[rule, epsilon][place] for rule in RULES)
        shown = (round(float(level), 4) if level <= 1 else "too few" for level in private)
        rows.append((int(ns[place]), epsilon, *shown, round(float(levels[NONPRIVATE, None][place]), 4)))
    needed = {e: {rule: smallest_n(ALPHA, e, rule) for rule in RULES} for e in EPSILONS_FIXED}
    return Findings(
        "Level to aim at",
        {"alpha": ALPHA},
        (Table(f"Level at α = {ALPHA:g}", ("n", "ε", *names, label_of(NONPRIVATE)), tuple(rows)),),
        tuple(_against_the_papers(result, rule) for rule in RULES if rule != Paper.name),
        {"over_n": _numbers(over_n), "over_epsilon": _numbers(over_epsilon), "least_n": needed},
    )


def _against_the_papers(both: Sequence[LevelCurves], rule: str) -> str:
    if all(_is_below(curves, rule) for curves in both):
        return f"The {label_of(rule)} aims below the {Paper.label} at every n and ε of the figure."
    return f"The {label_of(rule)} does not aim below the {Paper.label} everywhere in the figure."


def _is_below(curves: LevelCurves, rule: str) -> bool:
    """Whether a rule's level is below the paper's wherever the paper's is of use."""
    levels = curves.levels
    pairs = [(levels[rule, fixed], level) for (other, fixed), level in levels.items() if other == Paper.name]
    return all(bool(np.all((level < papers) | (papers >= 1))) for level, papers in pairs)


def _numbers(curves: LevelCurves) -> dict[str, Any]:
    kept = [{"method": rule, "fixed": fixed, "level": level} for (rule, fixed), level in curves.levels.items()]
    return {curves.over: curves.x, "curves": kept}


def figures(result: tuple[LevelCurves, LevelCurves]) -> dict[str, go.Figure]:
    titles = ("Level against the number of records", "Level against ε")
    return {title: level_figure(curves) for title, curves in zip(titles, result, strict=True)}
