"""Every view's figures as a page that works offline, and its numbers as CSV: made only when asked for."""

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go
import streamlit as st

from ppsets_core.explore.page import csv_of_rows, numbers_of, whole_page


def take_away(
    name: str, figures: Mapping[str, go.Figure], said: str, rows: Sequence[Mapping[str, object]] | None = None
) -> None:
    """Two downloads. `said`: the settings, in words, above the figures. `rows`: the view's own table, where it has one;
    else the points that are drawn."""
    file = name.lower().replace(" ", "-")
    with st.container(horizontal=True):
        st.download_button(
            "Figures (HTML)",
            lambda: whole_page(f"{name}: {said}", figures),
            file_name=f"{file}.html",
            mime="text/html",
            key=f"take_figures_{file}",
            on_click="ignore",
            icon=":material/download:",
            help="One file that opens in any browser, without a network. For a picture, use the camera above a figure.",
        )
        st.download_button(
            "Numbers (CSV)",
            lambda: csv_of_rows(numbers_of(figures) if rows is None else rows),
            file_name=f"{file}.csv",
            mime="text/csv",
            key=f"take_numbers_{file}",
            on_click="ignore",
            icon=":material/download:",
        )
