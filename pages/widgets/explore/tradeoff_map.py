"""The trade-off map: what every α and ε would cost in set size; a click takes a point to Calibrate."""

from dataclasses import dataclass

import numpy as np
import streamlit as st

from pages.widgets.explore.shared import PublicRecords, take_away
from pages.widgets.jobs import JobKey, collect, is_running, show_progress, start_job
from pages.widgets.person import may_open
from pages.widgets.settings import EACH, TOGETHER, apply_alpha, apply_epsilon
from ppsets_core.explore.expected_sets import TradeoffMap, tradeoff_figure, tradeoff_map
from ppsets_core.method.plan import DIAGNOSIS
from ppsets_core.method.rules import RULES, GroupRule

_DONE, _ASKED, _CHART = "map_done", "map_asked", "map_chart"


@dataclass(frozen=True)
class Wanted:
    """Which map is asked for."""

    records: str
    n: int
    per: str | None
    rule: str


_JOB = JobKey[tuple[Wanted, TradeoffMap]]("map_job")


def show_map(records: PublicRecords | None) -> None:
    st.write(
        "How large will sets be? Every α and ε in one picture, for a number of calibration records and a rule."
        + (" Click on a point to take its α and ε to Calibrate." if may_open("calibrate") else "")
    )
    if records is None:
        return
    labelled = records.need_labelled()
    wanted = _choose(records)
    if (found := collect(_JOB)) is not None:
        st.session_state[_DONE] = found
    done: tuple[Wanted, TradeoffMap] | None = st.session_state.get(_DONE)
    if done is not None and done[0] == wanted:
        _draw(done[1])
        return
    asked_before = st.session_state.get(_ASKED) == wanted
    if not asked_before or (not is_running(_JOB) and st.button("Draw this map", key="map_again")):
        st.session_state[_ASKED] = wanted
        settings = (labelled, wanted.n, wanted.rule)
        start_job(_JOB, lambda progress: (wanted, tradeoff_map(*settings, per=wanted.per, progress=progress)))
    if is_running(_JOB):
        show_progress(_JOB, "Points planned:")


def _choose(records: PublicRecords) -> Wanted:
    left, middle, right = st.columns(3)
    n = left.number_input("Calibration records n", 10, 200_000, 1000, 100, key="map_n", persist_state="session")
    promise = middle.radio("The promise holds for", [TOGETHER, EACH], key="map_promise", persist_state="session")
    able = [name for name, rule in RULES.items() if promise == TOGETHER or isinstance(rule, GroupRule)]
    rule = right.radio("Rule", able, format_func=lambda name: f"The {RULES[name].label}", key=f"map_rule_{promise}")
    return Wanted(records.digest, int(n), DIAGNOSIS if promise == EACH else None, rule)


def _draw(found: TradeoffMap) -> None:
    fig = tradeoff_figure(found)
    shows = "Mean set size over α and ε, with contour lines"
    event = st.plotly_chart(fig, key=_CHART, on_select="rerun", selection_mode="points", alt=shows)
    each = "" if found.per is None else " for each diagnosis"
    st.caption(
        f"Means over simulated calibrations with {found.n:,} of the records chosen above, drawn with replacement, "
        f"coverage promised{each}. Other patients and another model give other sizes. Crosses: too few records, "
        "so that nothing can be promised but sets of every diagnosis."
    )
    setting = f"n = {found.n:,}, the {RULES[found.method].label}, coverage promised{each or ' to all together'}"
    take_away("Trade-off map", {"Mean set size": fig}, setting, _rows(found))
    for point in event.selection.points if may_open("calibrate") else ():
        _take_to_calibrate(found, float(point["y"]), float(point["x"]))


def _rows(found: TradeoffMap) -> list[dict[str, object]]:
    """A line for each point of the map; empty where nothing can be promised but every diagnosis."""
    return [
        {"alpha": alpha, "epsilon": epsilon, "mean set size": _known(size), "coverage": _known(covered)}
        for alpha, sizes, coverage in zip(found.alphas.tolist(), found.sizes, found.coverage, strict=True)
        for epsilon, size, covered in zip(found.epsilons.tolist(), sizes, coverage, strict=True)
    ]


def _known(value: float) -> float | None:
    return None if np.isnan(value) else round(float(value), 4)


def _take_to_calibrate(found: TradeoffMap, log_alpha: float, log_epsilon: float) -> None:
    """Apply the α and ε of the map that are nearest to the figure's coordinates, which are logarithms."""
    apply_alpha(found.alphas[np.abs(np.log10(found.alphas) - log_alpha).argmin()])
    apply_epsilon(found.epsilons[np.abs(np.log10(found.epsilons) - log_epsilon).argmin()])
    st.session_state.pop(_CHART, None)
    st.switch_page("pages/calibrate.py")
