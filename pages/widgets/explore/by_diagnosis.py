"""Coverage of each diagnosis: what a promise for all together leaves to chance, and what one for each costs."""

import numpy as np
import streamlit as st

from pages.widgets.explore.source import PublicRecords
from pages.widgets.explore.take_away import take_away
from pages.widgets.settings import choose_alpha, choose_epsilon
from ppsets_core import InputError, plan
from ppsets_core.explore.expected_sets import ExpectedSets, by_diagnosis_figure, expected_sets, nonprivate_sets
from ppsets_core.explore.labelled import Labelled
from ppsets_core.method.plan import DIAGNOSIS
from ppsets_core.wording import with_margin

MOST_CLASSES = 20


def show_by_diagnosis(records: PublicRecords | None) -> None:
    st.write(
        "Coverage for all patients together is an average: easy diagnoses get more than asked for and hard ones less. "
        "A promise for each diagnosis gives every one of them what was asked, for larger sets."
    )
    if records is None:
        return
    if records.labelled is None:
        raise InputError("This needs a probability for each diagnosis and a label; this file has scores only.")
    if len(records.classes) > MOST_CLASSES:
        raise InputError(f"This view shows up to {MOST_CLASSES} diagnoses; these records have {len(records.classes)}.")
    left, middle, right = st.columns(3)
    with left:
        alpha = choose_alpha("explore_alpha")
    with middle:
        epsilon = choose_epsilon("explore_epsilon")
    with right:
        n = st.number_input("Records n", 10, 200_000, 1000, 100, key="explore_planned_n", persist_state="session")
    found = _found(records.labelled, records.classes, int(n), alpha, epsilon)
    drawn = by_diagnosis_figure(records.classes, found, 1 - alpha)
    rows = [_row(name, sets, records.classes) for name, sets in found.items()]
    st.plotly_chart(
        drawn,
        key="explore_by_diagnosis",
        alt="Coverage of each diagnosis and of all together, for each way of calibrating",
    )
    st.dataframe(
        rows,
        hide_index=True,
        alt="Mean set size and coverage of each diagnosis",
    )
    st.caption(
        f"Means over simulated calibrations with {n:,} of the records chosen above, drawn with replacement; "
        "± is a 95% margin of the mean. Dashed: the coverage asked for."
    )
    said = f"{records.name}, n = {n:,}, α = {alpha:g}, ε = {epsilon:g}"
    take_away("By diagnosis", {"Coverage by diagnosis": drawn}, said, rows)


def _found(
    labelled: Labelled, classes: tuple[str, ...], n: int, alpha: float, epsilon: float
) -> dict[str, ExpectedSets]:
    together = plan(n, alpha, epsilon)
    each = plan(n, alpha, epsilon, per=DIAGNOSIS, classes=len(classes))
    rng = np.random.default_rng
    return {
        "private, together": expected_sets(labelled, together, rng(0)),
        "private, each diagnosis": expected_sets(labelled, each, rng(0)),
        "without privacy, together": nonprivate_sets(labelled, n, alpha, rng(0)),
        "without privacy, each": nonprivate_sets(labelled, n, alpha, rng(0), each=True),
    }


def _row(name: str, sets: ExpectedSets, classes: tuple[str, ...]) -> dict[str, object]:
    by_class = {c: f"{100 * share:.1f}%" for c, share in zip(classes, sets.coverage_by_class, strict=True)}
    size = with_margin(sets.mean_size, sets.margin)
    return {"calibrated": name, "set size": size, "all together": f"{100 * sets.coverage:.1f}%", **by_class}
