"""How many records for this ε, which ε for these records, and what set size to expect."""

import numpy as np
import streamlit as st

from pages.widgets.explore.source import PublicRecords
from pages.widgets.explore.take_away import take_away
from pages.widgets.settings import choose_alpha, choose_epsilon
from ppsets_core import InputError, plan, smallest_epsilon, smallest_n
from ppsets_core.explore import NONPRIVATE, label_of
from ppsets_core.explore.expected_sets import ExpectedSets, expected_sets, nonprivate_sets
from ppsets_core.explore.level_curves import records_needed, records_needed_figure
from ppsets_core.explore.sweeps import log_grid
from ppsets_core.method.rules import RULES
from ppsets_core.wording import guarantee, rounded_up, with_margin


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
        with st.container(border=True, key="explore_expected"):
            _size_for(records, alpha, epsilon, n)
    st.subheader("Records needed at every ε", anchor=False)
    epsilons = log_grid(0.01, 20, 25)
    needed = records_needed_figure(epsilons, records_needed(epsilons, alpha))
    st.plotly_chart(
        needed,
        key="explore_needed",
        alt="Least number of records against ε, one line per rule",
    )
    take_away("Planner", {"Records needed at every ε": needed}, f"α = {alpha:g}")


def _records_for(alpha: float, epsilon: float) -> None:
    st.subheader(f"How many records for ε = {epsilon:g}?", anchor=False)
    for column, method in zip(st.columns(len(RULES)), RULES, strict=True):
        column.metric(_title(method), f"{smallest_n(alpha, epsilon, method):,}")
    fewest = " and ".join(f"{rule.grid[0]} bins ({rule.label})" for rule in RULES.values())
    st.caption(f"The least with which a set can leave anything out, with {fewest}. More records make smaller sets.")


def _epsilon_for(alpha: float, n: int) -> None:
    st.subheader(f"Which ε for {n:,} records?", anchor=False)
    for column, method in zip(st.columns(len(RULES)), RULES, strict=True):
        try:
            value = f"{rounded_up(smallest_epsilon(n, alpha, method)):g}"
        except InputError:
            value = "none"
        column.metric(_title(method), value)
    st.caption("The most private ε with which a set can leave anything out, likewise.")


def _size_for(records: PublicRecords, alpha: float, epsilon: float, n: int) -> None:
    st.subheader(f"What set size to expect with {n:,} records and ε = {epsilon:g}?", anchor=False)
    if records.labelled is None:
        st.info("This file has scores only; set sizes need a probability for each diagnosis.")
        return
    *columns, last = st.columns(len(RULES) + 1)
    for column, method in zip(columns, RULES, strict=True):
        planned = plan(n, alpha, epsilon, method=method)
        found = expected_sets(records.labelled, planned, np.random.default_rng(0))
        with column:
            _show_size(method, found, guarantee(planned))
    exact = nonprivate_sets(records.labelled, n, alpha, np.random.default_rng(0))
    with last:
        _show_size(NONPRIVATE, exact)
    st.caption(
        "Diagnoses in a set, means over simulated calibrations with the records chosen above, drawn with replacement; "
        "± is a 95% margin of the mean. Other patients and another model give other sizes."
    )


def _show_size(series: str, found: ExpectedSets, told: str | None = None) -> None:
    st.metric(_title(series), with_margin(found.mean_size, found.margin), help=told)
    st.caption(f"Coverage {100 * found.coverage:.1f}%")


def _title(series: str) -> str:
    name = label_of(series)
    return name[0].upper() + name[1:]
