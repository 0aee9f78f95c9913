"""How many records for this ε, which ε for these records, and what sets to expect: for all and for each diagnosis."""

import numpy as np
import streamlit as st

from pages.widgets.explore.shared import PublicRecords, choose_setting, take_away
from ppsets_core import InputError, plan, smallest_epsilon, smallest_n
from ppsets_core.explore import NONPRIVATE, label_of
from ppsets_core.explore.expected_sets import ExpectedSets, by_diagnosis_figure, expected_sets, nonprivate_sets
from ppsets_core.explore.labelled import Labelled
from ppsets_core.explore.level_curves import records_needed, records_needed_figure
from ppsets_core.explore.sweeps import log_grid
from ppsets_core.method.plan import DIAGNOSIS
from ppsets_core.method.rules import RULES
from ppsets_core.wording import guarantee, rounded_up, with_margin

MOST_CLASSES = 20
MEANS = (
    "Means over simulated calibrations with {:,} of the records chosen above, drawn with replacement; "
    "± is a 95% margin of the mean."
)


def show_planner(records: PublicRecords | None) -> None:
    st.write("Before there is any data: what a hospital would need, and what it would get.")
    alpha, epsilon, n = choose_setting()
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
    fig = records_needed_figure(epsilons, records_needed(epsilons, alpha))
    st.plotly_chart(fig, key="explore_needed", alt="Least number of records against ε, one line per rule")
    take_away("Planner", {"Records needed at every ε": fig}, f"α = {alpha:g}")


def _records_for(alpha: float, epsilon: float) -> None:
    st.subheader(f"How many records for ε = {epsilon:g}?", anchor=False)
    for column, method in zip(st.columns(len(RULES)), RULES, strict=True):
        column.metric(label_of(method).capitalize(), f"{smallest_n(alpha, epsilon, method):,}")
    fewest = " and ".join(f"{rule.grid[0]} bins ({rule.label})" for rule in RULES.values())
    st.caption(f"The least with which a set can leave anything out, with {fewest}. More records make smaller sets.")


def _epsilon_for(alpha: float, n: int) -> None:
    st.subheader(f"Which ε for {n:,} records?", anchor=False)
    for column, method in zip(st.columns(len(RULES)), RULES, strict=True):
        try:
            value = f"{rounded_up(smallest_epsilon(n, alpha, method)):g}"
        except InputError:
            value = "none"
        column.metric(label_of(method).capitalize(), value)
    st.caption("The most private ε with which a set can leave anything out.")


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
    with last:
        _show_size(NONPRIVATE, nonprivate_sets(records.labelled, n, alpha, np.random.default_rng(0)))
    st.caption(f"Diagnoses in a set. {MEANS.format(n)} Other patients and another model give other sizes.")


def _show_size(series: str, found: ExpectedSets, promise: str | None = None) -> None:
    st.metric(label_of(series).capitalize(), with_margin(found.mean_size, found.margin), help=promise)
    st.caption(f"Coverage {100 * found.coverage:.1f}%")


def show_by_diagnosis(records: PublicRecords | None) -> None:
    st.write(
        "Coverage for all patients together is an average: easy diagnoses get more than asked for and hard ones less. "
        "A promise for each diagnosis gives every one of them what was asked, for larger sets."
    )
    if records is None:
        return
    labelled, classes = records.need_labelled(), records.classes
    if len(classes) > MOST_CLASSES:
        raise InputError(f"This view shows up to {MOST_CLASSES} diagnoses; these records have {len(classes)}.")
    alpha, epsilon, n = choose_setting()
    found = _four_ways(labelled, len(classes), n, alpha, epsilon)
    fig = by_diagnosis_figure(classes, found, 1 - alpha)
    rows = [_row(name, sets, classes) for name, sets in found.items()]
    shows = "Coverage of each diagnosis and of all together, for each way of calibrating"
    st.plotly_chart(fig, key="explore_by_diagnosis", alt=shows)
    st.dataframe(rows, hide_index=True, alt="Mean set size and coverage of each diagnosis")
    st.caption(f"{MEANS.format(n)} Dashed: the coverage asked for.")
    setting = f"{records.name}, n = {n:,}, α = {alpha:g}, ε = {epsilon:g}"
    take_away("By diagnosis", {"Coverage by diagnosis": fig}, setting, rows)


def _four_ways(labelled: Labelled, classes: int, n: int, alpha: float, epsilon: float) -> dict[str, ExpectedSets]:
    each = plan(n, alpha, epsilon, per=DIAGNOSIS, classes=classes)
    rng = np.random.default_rng
    return {
        "private, together": expected_sets(labelled, plan(n, alpha, epsilon), rng(0)),
        "private, each diagnosis": expected_sets(labelled, each, rng(0)),
        "without privacy, together": nonprivate_sets(labelled, n, alpha, rng(0)),
        "without privacy, each": nonprivate_sets(labelled, n, alpha, rng(0), each=True),
    }


def _row(name: str, sets: ExpectedSets, classes: tuple[str, ...]) -> dict[str, object]:
    by_class = {c: f"{100 * share:.1f}%" for c, share in zip(classes, sets.coverage_by_class, strict=True)}
    size = with_margin(sets.mean_size, sets.margin)
    return {"calibrated": name, "set size": size, "all together": f"{100 * sets.coverage:.1f}%", **by_class}
