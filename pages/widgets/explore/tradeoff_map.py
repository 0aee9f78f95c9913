"""The trade-off map: what every α and ε would cost in set size; a click takes a point to Calibrate."""

from dataclasses import dataclass

import numpy as np
import streamlit as st

from pages.widgets.explore.shared import CORONAHACK, PublicRecords, take_away
from pages.widgets.jobs import JobKey, collect, is_running, show_progress, start_job
from pages.widgets.person import may_open
from pages.widgets.settings import EACH, TOGETHER, apply_alpha, apply_epsilon, choose_radio, kept
from ppsets_core.explore.expected_sets import (
    BUNDLED_N,
    COARSE_ALPHAS,
    COARSE_EPSILONS,
    TradeoffMap,
    bundled_map,
    map_rows,
    tradeoff_figure,
    tradeoff_map,
)
from ppsets_core.explore.labelled import Labelled
from ppsets_core.method.plan import DIAGNOSIS
from ppsets_core.method.rules import RULES, GroupRule

_ASKED, _CHART, MOST_KEPT, QUICK_CLASSES = "map_asked", "map_chart", 50, 5


@dataclass(frozen=True)
class Wanted:
    """Which map is asked for."""

    records: str
    n: int
    per: str | None
    rule: str


_JOB = JobKey[tuple[Wanted, TradeoffMap]]("map_job")


def show_map(records: PublicRecords | None) -> None:
    if records is None:
        return
    labelled = records.need_labelled()
    wanted = _choose(records)
    if (found := collect(_JOB)) is not None:
        done = _done()
        while len(done) >= MOST_KEPT:
            done.pop(next(iter(done)))
        done[found[0]] = found[1]
    complete = _done().get(wanted)
    if complete is None and wanted.n == BUNDLED_N and st.session_state.get("explore_source", CORONAHACK) == CORONAHACK:
        complete = bundled_map(wanted.rule, wanted.per)
    if complete is not None:
        _draw(complete)
        return
    if wanted.per is None or len(records.classes) <= QUICK_CLASSES:
        _draw(_coarse(wanted, labelled))  # before the whole map, which would take half of its time
    settings = (wanted.n, wanted.rule, wanted.per)
    asked_before = st.session_state.get(_ASKED) == wanted
    if not asked_before or (not is_running(_JOB) and st.button("Draw the whole map", key="map_again")):
        st.session_state[_ASKED] = wanted
        start_job(_JOB, lambda told: (wanted, tradeoff_map(labelled, *settings[:2], per=settings[2], progress=told)))
    if is_running(_JOB):
        show_progress(_JOB, "Points planned:")


@st.cache_resource(show_spinner=False)
def _done() -> dict[Wanted, TradeoffMap]:
    """The last complete maps, of all sessions; they are of public records."""
    return {}


@st.cache_data(show_spinner=False, max_entries=MOST_KEPT)
def _coarse(wanted: Wanted, _labelled: Labelled) -> TradeoffMap:
    settings = (_labelled, wanted.n, wanted.rule)
    return tradeoff_map(*settings, per=wanted.per, alphas=COARSE_ALPHAS, epsilons=COARSE_EPSILONS)


def _choose(records: PublicRecords) -> Wanted:
    left, middle, right = st.columns(3)
    n = left.number_input("Records n", 10, 200_000, kept("map_n", BUNDLED_N), 100, key="map_n", persist_state="session")
    with middle:
        promise = choose_radio("The promise holds for", [TOGETHER, EACH], "map_promise")
    able = [name for name, rule in RULES.items() if promise == TOGETHER or isinstance(rule, GroupRule)]
    with right:
        rule = choose_radio("Rule", able, f"map_rule_{promise}", lambda name: RULES[name].label.capitalize())
    return Wanted(records.digest, int(n), DIAGNOSIS if promise == EACH else None, rule)


def _draw(found: TradeoffMap) -> None:
    st.header("How large are sets at every α and ε?", anchor=False)
    fig = tradeoff_figure(found, (kept("alpha", 0.1), kept("epsilon", 1.0)))
    shows = "Mean set size over α and ε, with contour lines and a mark at Calibrate's choice"
    event = st.plotly_chart(fig, key=_CHART, on_select="rerun", selection_mode="points", alt=shows)
    click = " Click a point to take its α and ε there." if may_open("calibrate") else ""
    st.caption(f"Marked: Calibrate's choice.{click} Blank: too few records. Means over simulated calibrations.")
    each = "" if found.per is None else " for each diagnosis"
    setting = f"n = {found.n:,}, the {RULES[found.method].label}, coverage promised{each or ' to all together'}"
    take_away("Trade-off map", {"Mean set size": fig}, setting, map_rows(found))
    for point in event.selection.points if may_open("calibrate") else ():
        _take_to_calibrate(found, float(point["y"]), float(point["x"]))


def _take_to_calibrate(found: TradeoffMap, log_alpha: float, log_epsilon: float) -> None:
    """Apply the α and ε of the map that are nearest to the figure's coordinates, which are logarithms."""
    apply_alpha(found.alphas[np.abs(np.log10(found.alphas) - log_alpha).argmin()])
    apply_epsilon(found.epsilons[np.abs(np.log10(found.epsilons) - log_epsilon).argmin()])
    st.session_state.pop(_CHART, None)
    st.switch_page("pages/calibrate.py")
