"""Explore: what privacy and coverage cost, in records and in set size. Spends nothing."""

import streamlit as st

from pages.widgets.explore.planner import show_by_diagnosis, show_planner
from pages.widgets.explore.shared import choose_records
from pages.widgets.explore.splits import show_splits
from pages.widgets.explore.statisticians import show_levels, show_release
from pages.widgets.explore.tradeoff_map import show_map
from pages.widgets.guard import guarded
from pages.widgets.streamlit_parts import run_through_app
from pages.widgets.what_if import show_what_if

VIEWS = {
    "Planner": show_planner,
    "Trade-off map": show_map,
    "By diagnosis": show_by_diagnosis,
    "Levels": show_levels,
    "Random splits": show_splits,
    "Inside a release": show_release,
}


def main() -> None:
    st.title("Explore")
    st.caption("What privacy and coverage cost. **Nothing on this screen spends privacy.**")
    first, *others = st.tabs(["What if", *VIEWS], on_change="rerun", key="explore_view")
    if first.open:
        with first:
            show_what_if("what_if")
    for tab, show in zip(others, VIEWS.values(), strict=True):
        if tab.open:
            with tab, guarded():
                show(choose_records())


if run_through_app():
    main()
