"""How many records for this ε, which ε for these records, and what sets to expect: for all and for each diagnosis."""

from dataclasses import replace

import numpy as np
import streamlit as st

from pages.widgets.explore.shared import PublicRecords, choose_setting, take_away
from pages.widgets.settings import choose_radio
from ppsets_core import InputError, plan, smallest_epsilon, smallest_n
from ppsets_core.explore import NONPRIVATE, label_of
from ppsets_core.explore.expected_sets import (
    ExpectedSets,
    by_diagnosis_figure,
    expected_sets,
    nonprivate_sets,
)
from ppsets_core.explore.labelled import Labelled
from ppsets_core.explore.level_curves import records_needed, records_needed_figure
from ppsets_core.explore.sweeps import log_grid
from ppsets_core.explore.what_if import FEW_REPETITIONS
from ppsets_core.method.plan import DIAGNOSIS
from ppsets_core.method.rules import RULES
from ppsets_core.scores import SCORES, ClassScore
from ppsets_core.wording import rounded_up, with_margin

MEANS = "Means over simulated calibrations."
MOST_CLASSES = 20
WHAT_SCORES_DO = "lac: smallest sets. aps, raps: larger where the model is unsure; privacy costs them more."


def show_planner(records: PublicRecords | None) -> None:
    alpha, epsilon, n = choose_setting()
    left, right = st.columns(2)
    with left.container(border=True, height="stretch"):
        st.header(f"Fewest records that work at ε = {epsilon:g}", anchor=False)
        _of_each_rule({method: f"{smallest_n(alpha, epsilon, method):,}" for method in RULES})
        st.caption("With fewer, every set holds every diagnosis.")
    with right.container(border=True, height="stretch"):
        st.header(f"Smallest ε that works with {n:,} records", anchor=False)
        _of_each_rule({method: _least_epsilon(n, alpha, method) for method in RULES})
        st.caption("With less, every set holds every diagnosis.")
    if records is not None and records.labelled is not None:
        with st.container(border=True, key="explore_expected"):
            st.header("What set size to expect?", anchor=False)
            _of_each_rule(
                {
                    name: f"{sets.mean_size:.2f} · {sets.coverage:.1%}"
                    for name, sets in _sizes(records.labelled, alpha, epsilon, n).items()
                }
            )
            st.caption(f"Diagnoses in a set · coverage. {MEANS}")
    st.header("Records needed at every ε", anchor=False)
    epsilons = log_grid(0.01, 20, 25)
    fig = records_needed_figure(epsilons, records_needed(epsilons, alpha))
    st.plotly_chart(fig, key="explore_needed", alt="Least number of records against ε, one line per rule")
    take_away("Planner", {"Records needed at every ε": fig}, f"α = {alpha:g}")


def _of_each_rule(values: dict[str, str]) -> None:
    for column, (name, value) in zip(st.columns(len(values)), values.items(), strict=True):
        column.metric(label_of(name).capitalize(), value)


def _least_epsilon(n: int, alpha: float, method: str) -> str:
    try:
        return f"{rounded_up(smallest_epsilon(n, alpha, method)):g}"
    except InputError:
        return "none"


def _sizes(labelled: Labelled, alpha: float, epsilon: float, n: int) -> dict[str, ExpectedSets]:
    rng = np.random.default_rng
    plans = {method: plan(n, alpha, epsilon, method=method) for method in RULES}
    found = {method: expected_sets(labelled, planned, rng(0)) for method, planned in plans.items()}
    return found | {NONPRIVATE: nonprivate_sets(labelled, n, alpha, rng(0))}


def show_by_diagnosis(records: PublicRecords | None) -> None:
    if records is None:
        return
    labelled, classes = records.need_labelled(), records.classes
    if len(classes) > MOST_CLASSES:
        raise InputError(f"This view shows up to {MOST_CLASSES} diagnoses; these records have {len(classes)}.")
    alpha, epsilon, n = choose_setting()
    able = {name: one() for name, one in SCORES.items() if issubclass(one, ClassScore)}
    score = choose_radio("Score", list(able), "explore_score")
    found = _four_ways(replace(labelled, score=able[score]), len(classes), n, alpha, epsilon)
    planned = plan(n, alpha, epsilon)
    by_score = {
        name: expected_sets(replace(labelled, score=one), planned, np.random.default_rng(0), by_class=True)
        for name, one in able.items()
    }
    figures = {
        "Does every diagnosis get what was asked for?": by_diagnosis_figure(classes, found, 1 - alpha),
        "What does the score do to set sizes?": by_diagnosis_figure(classes, by_score),
    }
    for column, (title, fig) in zip(st.columns(2), figures.items(), strict=True):
        column.header(title, anchor=False)
        column.plotly_chart(fig, key=f"explore_{title}", alt=f"{title} A row for each diagnosis and one for all")
    st.caption(f"Green line: asked for. {WHAT_SCORES_DO} {MEANS}")
    setting = f"{records.name}, n = {n:,}, α = {alpha:g}, ε = {epsilon:g}"
    rows = [_row(name, sets, classes) for name, sets in (found | by_score).items()]
    take_away("By diagnosis", figures, setting, rows)


def _four_ways(labelled: Labelled, classes: int, n: int, alpha: float, epsilon: float) -> dict[str, ExpectedSets]:
    each = plan(n, alpha, epsilon, per=DIAGNOSIS, classes=classes)
    rng = np.random.default_rng
    return {
        "private, together": expected_sets(labelled, plan(n, alpha, epsilon), rng(0)),
        "private, each": expected_sets(labelled, each, rng(0), FEW_REPETITIONS),
        "no privacy, together": nonprivate_sets(labelled, n, alpha, rng(0)),
        "no privacy, each": nonprivate_sets(labelled, n, alpha, rng(0), each=True),
    }


def _row(name: str, sets: ExpectedSets, classes: tuple[str, ...]) -> dict[str, object]:
    by_class = {c: f"{100 * share:.1f}%" for c, share in zip(classes, sets.coverage_by_class, strict=True)}
    size = with_margin(sets.mean_size, sets.margin)
    return {"calibrated": name, "set size": size, "all together": f"{100 * sets.coverage:.1f}%", **by_class}
