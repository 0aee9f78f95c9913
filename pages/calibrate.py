"""Calibrate: records in, a plan that costs nothing, one confirmed release, a threshold out."""

import streamlit as st

from pages.widgets.calibrate import sources
from pages.widgets.calibrate.plans import (
    choose_novelty,
    choose_promise,
    choose_rule,
    choose_score,
    make_plans,
    show_plan,
)
from pages.widgets.calibrate.release import RELEASE, release_step
from pages.widgets.choose_files import data_sets
from pages.widgets.guard import guarded
from pages.widgets.settings import apply_epsilon, choose_alpha, choose_epsilon, choose_radio, kept
from pages.widgets.spend import clear_pending
from pages.widgets.streamlit_parts import run_through_app
from ppsets_core import Records
from ppsets_core.data.counts import DescribedRecords
from ppsets_core.scores import LAC, ClassScore

DATA_SET, SAVED = "A data set of the server", "A saved calibration"
SOURCES = {
    "Bundled CoronaHack scores": sources.read_bundled,
    "A score file": sources.read_score_file,
    "X-rays with labels": sources.read_xrays,
    DATA_SET: sources.read_data_set,
    SAVED: sources.load_saved,
}
USUAL_BUDGET = 2.0
M_HELP = "The threshold is one of m evenly spaced values. Empty: the best m for these n, α and ε."
GAMMA_HELP = "How the paper's rule shares α between noise and data. Empty: the γ of the least level."


def main() -> None:
    st.title("Calibrate")
    st.header("1 · Records", anchor=False)
    offered = [name for name in SOURCES if name != DATA_SET or data_sets()]
    reading = SOURCES[choose_radio("Where do the records come from?", offered, "source", hidden=True)]()
    if reading is None:
        clear_pending(RELEASE)
        return
    _plan_and_release(reading, sources.summarise(reading))


@st.fragment
@guarded()
def _plan_and_release(reading: sources.Reading, records: DescribedRecords) -> None:
    """A fragment, so that a slider redraws the plan and nothing else."""
    st.header("2 · How sure, how private", anchor=False)
    left, right = st.columns([2, 3], gap="large")
    with left:
        alpha, epsilon = choose_alpha(st.container()), choose_epsilon(st.container())
        classes = choose_promise(records)
        rule_place = st.container()
        m, gamma, novelty, score = _advanced(records)
        plans = make_plans(len(records), alpha, epsilon, m, gamma, classes, novelty)
        with rule_place:
            rule = choose_rule(list(plans))
    with right:
        show_plan(plans, rule, m, gamma, records.unit, score)
    st.header("3 · Spend and calibrate", anchor=False)
    budget = sources.DEMO_BUDGET if reading.id == "bundled" else USUAL_BUDGET
    if isinstance(records, Records):
        records = records.with_score(score)
    release_step(reading, records, plans[rule], budget)


def _advanced(records: DescribedRecords) -> tuple[int | None, float | None, float, ClassScore]:
    """m and γ where they are set by hand, the share of ε for novelty, and the score."""
    with st.expander("Advanced"):
        left, right = st.columns(2)
        m = left.number_input(
            *("Bins m", 2, 10**6, kept("own_m", None), 1),
            key="own_m",
            placeholder="chosen",
            help=M_HELP,
            persist_state="session",
        )
        gamma = right.number_input(
            *("γ (paper's rule)", 1e-12, 1 - 1e-9, kept("own_gamma", None), 0.01, "%.4g"),
            key="own_gamma",
            placeholder="chosen",
            help=GAMMA_HELP,
            persist_state="session",
        )
        left.number_input(
            *("Exact ε", 1e-6, 1e6, None, 0.1, "%.6g"),
            key="exact_epsilon",
            placeholder="as the slider says",
            on_change=_apply_exact,
        )
        can_be_scored = isinstance(records, Records) and records.probabilities is not None
        return m, gamma, choose_novelty(records), choose_score() if can_be_scored else LAC


def _apply_exact() -> None:
    if st.session_state["exact_epsilon"] is not None:
        apply_epsilon(st.session_state["exact_epsilon"])
        st.session_state["exact_epsilon"] = None


if run_through_app():
    main()
