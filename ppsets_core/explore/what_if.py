"""What would another α, ε or n give: set size and coverage against ε, around the choice made. Public records only."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from ppsets_core.explore import NONPRIVATE, style
from ppsets_core.explore.expected_sets import ExpectedSets, expected_sets, nonprivate_sets
from ppsets_core.explore.labelled import Labelled
from ppsets_core.explore.sweeps import QUANTITIES
from ppsets_core.method.plan import plan
from ppsets_core.method.rules import RULES

EPSILONS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
REPETITIONS = 40


@dataclass(frozen=True, eq=False)
class Outlook:
    """Expected sets at each of some ε, for each rule; without privacy they are the same at every ε."""

    alpha: float
    epsilons: tuple[float, ...]
    series: dict[str, tuple[ExpectedSets, ...]]

    def at(self, series: str, epsilon: float) -> ExpectedSets:
        """What to expect at one of the ε."""
        return self.series[series][self.epsilons.index(epsilon)]


def outlook(records: Labelled, n: int, alpha: float, epsilon: float, epsilons: Sequence[float] = EPSILONS) -> Outlook:
    """Every rule, and no privacy, at each ε and at the one chosen; the same calibrations are drawn for all."""
    every = tuple(sorted({*epsilons, epsilon}))

    def draws() -> np.random.Generator:
        return np.random.default_rng(0)

    found = {
        rule: tuple(
            expected_sets(records, plan(n, alpha, e, method=rule), draws(), repetitions=REPETITIONS) for e in every
        )
        for rule in RULES
    }
    without = nonprivate_sets(records, n, alpha, draws(), repetitions=REPETITIONS)
    return Outlook(alpha, every, found | {NONPRIVATE: (without,) * len(every)})


def outlook_figure(ahead: Outlook, quantity: str, epsilon: float, *, height: int = 230) -> go.Figure:
    """One line for each rule against ε, and a mark where the choice stands; `quantity` as in `QUANTITIES`."""
    fig = style.figure(style.AXES["epsilon"], QUANTITIES[quantity], height=height)
    for series, sets in ahead.series.items():
        values = [getattr(one, quantity) for one in sets]
        look = style.look_of(series)
        fig.add_scatter(x=ahead.epsilons, y=values, mode="lines", name=look.name, line=look.line | {"width": 2.5})
    for rule in RULES:
        here, colour = getattr(ahead.at(rule, epsilon), quantity), style.look_of(rule).colour
        mark = {"size": 12, "color": colour, "line": {"width": 2, "color": "white"}}
        fig.add_scatter(x=[epsilon], y=[here], mode="markers", marker=mark, showlegend=False)
    if quantity == "coverage":
        style.add_goal(fig, ahead.epsilons, 1 - ahead.alpha)
        fig.update_yaxes(tickformat=".0%")
    else:
        fig.update_layout(showlegend=False)
    fig.add_vline(x=epsilon, line={"color": style.GREY, "width": 1, "dash": "dot"})
    style.log_ticks(fig, [e for e in ahead.epsilons if e in EPSILONS])
    return fig
