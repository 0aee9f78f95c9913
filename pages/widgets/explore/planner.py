"""How many records for this ε, which ε for these records, and what set size to expect."""

import numpy as np
import streamlit as st

from pages.widgets.explore.source import PublicRecords
from pages.widgets.settings import choose_alpha, choose_epsilon
from ppsets_core import InputError, plan, smallest_epsilon, smallest_n
from ppsets_core.figures.level_curves import records_needed_figure
from ppsets_core.figures.style import NAMES
from ppsets_core.tradeoffs.expected_size import expected_size
from ppsets_core.tradeoffs.grids import log_grid
from ppsets_core.tradeoffs.level_curves import records_needed
from ppsets_core.validation import METHODS
from ppsets_core.wording import guarantee, rounded_up

REPETITIONS = 30


def show_planner(records: PublicRecords | None) -> None:
    st.write("Before there is any data: what a hospital would need, and what it would get.")
    left, middle, right = st.columns(3)
    with left:
        alpha = choose_alpha("explore_alpha")
    with middle:
        epsilon = choose_epsilon("explore_epsilon")
    with right:
        n = st.number_input("Records n", 10, 200_000, 1000, 100, key="explore_planned_n", persist_state="session")
    left, right = st.columns(2)
    with left.container(border=True, height="stretch"):
        _records_for(alpha, epsilon)
    with right.container(border=True, height="stretch"):
        _epsilon_for(alpha, n)
    if records is not None:
        with st.container(border=True):
            _size_for(records, alpha, epsilon, n)
    st.subheader("Records needed at every ε", anchor=False)
    st.plotly_chart(
        records_needed_figure(records_needed(log_grid(0.01, 20, 25), alpha)),
        key="explore_needed",
        alt="Least number of records against ε, one line for each rule",
    )


def _records_for(alpha: float, epsilon: float) -> None:
    st.subheader(f"How many records for ε = {epsilon:g}?", anchor=False)
    for column, method in zip(st.columns(2), METHODS, strict=True):
        column.metric(NAMES[method].capitalize(), f"{smallest_n(alpha, epsilon, method):,}")
    st.caption("The least with which a set can leave out anything. More records make smaller sets.")


def _epsilon_for(alpha: float, n: int) -> None:
    st.subheader(f"Which ε for {n:,} records?", anchor=False)
    for column, method in zip(st.columns(2), METHODS, strict=True):
        try:
            value = f"{rounded_up(smallest_epsilon(n, alpha, method)):g}"
        except InputError:
            value = "none"
        column.metric(NAMES[method].capitalize(), value)
    st.caption("The most private ε with which a set can leave out anything.")


def _size_for(records: PublicRecords, alpha: float, epsilon: float, n: int) -> None:
    st.subheader(f"What set size to expect with {n:,} records and ε = {epsilon:g}?", anchor=False)
    if records.labelled is None:
        st.info("This file has scores only; set sizes need a probability for each diagnosis.")
        return
    columns = st.columns(3)
    for column, method in zip(columns, METHODS, strict=False):
        planned = plan(n, alpha, epsilon, method=method)
        found = expected_size(records.labelled, planned, REPETITIONS, np.random.default_rng(0))
        column.metric(NAMES[method].capitalize(), f"{found.mean_size:.2f}", help=guarantee(planned))
        column.caption(f"{100 * found.singleton_share:.0f}% of sets hold exactly one.")
    columns[2].metric(NAMES["nonprivate"].capitalize(), f"{found.nonprivate_mean_size:.2f}")
    columns[2].caption(f"{100 * found.nonprivate_singleton_share:.0f}% of sets hold exactly one.")
    st.caption(
        f"Diagnoses in a set, means over {REPETITIONS} simulated calibrations on the records chosen above. "
        "Other patients and another model give other sizes."
    )
