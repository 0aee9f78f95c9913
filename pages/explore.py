"""Explore: what privacy and coverage cost, in records and in set size. Spends nothing."""

import streamlit as st

from pages.widgets.choose_files import choose_one
from pages.widgets.explore.planner import show_by_diagnosis, show_planner
from pages.widgets.explore.shared import choose_records
from pages.widgets.explore.statisticians import show_levels, show_release
from pages.widgets.explore.tradeoff_map import show_map
from pages.widgets.guard import guarded
from pages.widgets.streamlit_parts import run_through_app
from pages.widgets.what_if import FREE, show_what_if

WHAT_IF, STATISTICIANS = "What if", "For statisticians"
VIEWS = {"Trade-off map": show_map, "By diagnosis": show_by_diagnosis, "Planner": show_planner}
DETAILS = {"Levels": show_levels, "Inside a release": show_release}


def main() -> None:
    st.title("Explore")
    st.caption(FREE)
    views = [WHAT_IF, *VIEWS, STATISTICIANS]
    for view, tab in zip(views, st.tabs(views, on_change="rerun", key="explore_view"), strict=True):
        if tab.open:
            with tab, guarded():
                _show(view)


def _show(view: str) -> None:
    if view == WHAT_IF:
        show_what_if("explore")
    elif view == STATISTICIANS:
        detail = choose_one("View", list(DETAILS), "explore_detail")
        DETAILS[detail](choose_records())
    else:
        VIEWS[view](choose_records())


if run_through_app():
    main()
