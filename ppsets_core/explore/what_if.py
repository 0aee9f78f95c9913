"""What would another α, ε or n give: set size and coverage against one of them, around the choice made. Public records
only."""

from dataclasses import dataclass, replace

import numpy as np
import plotly.graph_objects as go

from ppsets_core.explore import NONPRIVATE, style
from ppsets_core.explore.expected_sets import ExpectedSets, expected_sets, nonprivate_sets
from ppsets_core.explore.labelled import Labelled
from ppsets_core.explore.sweeps import QUANTITIES
from ppsets_core.method.plan import plan
from ppsets_core.method.rules import RULES, GroupRule

GRIDS: dict[str, tuple[float, ...]] = {
    "epsilon": (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0),
    "alpha": (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5),
    "n": (50, 100, 200, 500, 1000, 2000, 5000, 10_000, 30_000),
}
REPETITIONS, FEW_REPETITIONS, MANY_RECORDS = 40, 12, 5000


@dataclass(frozen=True)
class Choice:
    """n, α, ε, and whom the promise is for: `per` is "diagnosis" for each, else None."""

    n: int
    alpha: float
    epsilon: float
    per: str | None = None

    def at(self, over: str, value: float) -> "Choice":
        """Replace ε, α or n, which `over` names."""
        return replace(self, **{over: int(value) if over == "n" else value})  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class Outlook:
    """Expected sets along values of "epsilon", "alpha" or "n", for each rule that can give the promise and for none."""

    over: str
    points: dict[float, dict[str, ExpectedSets]]


def outlook(records: Labelled, choice: Choice, over: str, values: tuple[float, ...]) -> Outlook:
    """What to expect at each of the values; the same calibrations are drawn for all."""
    return Outlook(over, {value: _expected(records, choice.at(over, value)) for value in values})


def _expected(records: Labelled, choice: Choice) -> dict[str, ExpectedSets]:
    n, alpha, epsilon, per = choice.n, choice.alpha, choice.epsilon, choice.per
    few = per is not None or n > MANY_RECORDS  # many records differ little from draw to draw
    repetitions, classes = FEW_REPETITIONS if few else REPETITIONS, records.probabilities.shape[1] if per else None
    able = [name for name, rule in RULES.items() if per is None or isinstance(rule, GroupRule)]
    plans = {rule: plan(n, alpha, epsilon, method=rule, per=per, classes=classes) for rule in able}
    rng = np.random.default_rng
    found = {rule: expected_sets(records, chosen, rng(0), repetitions) for rule, chosen in plans.items()}
    without = nonprivate_sets(records, n, alpha, rng(0), each=per is not None, repetitions=repetitions)
    return found | {NONPRIVATE: without}


def outlook_figure(ahead: Outlook, quantity: str, here: float, *, alpha: float, height: int = 215) -> go.Figure:
    """One line for each rule, and a mark where the choice stands; `quantity` as in `QUANTITIES`."""
    fig = style.figure(style.AXES[ahead.over], QUANTITIES[quantity], height=height)
    along = sorted(ahead.points)
    for series in ahead.points[here]:
        look, values = style.look_of(series), [getattr(ahead.points[x][series], quantity) for x in along]
        fig.add_scatter(x=along, y=values, mode="lines", name=look.name, line=look.line | {"width": 2.5})
        if series != NONPRIVATE:
            mark = {"size": 12, "color": look.colour, "line": {"width": 2, "color": "white"}}
            y = [values[along.index(here)]]
            fig.add_scatter(x=[here], y=y, mode="markers", marker=mark, showlegend=False, hoverinfo="skip")
    if quantity == "coverage":
        goal = [1 - value if ahead.over == "alpha" else 1 - alpha for value in along]
        fig.add_scatter(x=along, y=goal, mode="lines", name="asked for", line=style.GOAL)
        fig.update_yaxes(tickformat=".0%")
    fig.add_vline(x=here, line={"color": style.GREY, "width": 1, "dash": "dot"})
    place = {"x": np.log10(here), "y": 1, "yref": "paper", "yanchor": "bottom", "showarrow": False}
    fig.add_annotation(text="you are here", font={"size": 12}, **place)
    ticks = GRIDS[ahead.over][::2]
    style.log_ticks(fig, ticks)
    if ahead.over == "alpha":
        fig.update_xaxes(ticktext=[f"{value:.0%}" for value in ticks])
    return fig.update_layout(showlegend=False, margin={"l": 8, "r": 8, "t": 24, "b": 8})
