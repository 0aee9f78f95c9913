"""Every view's figures as a page that works offline, and its numbers as CSV: made only when asked for."""

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go
import streamlit as st

from pages.widgets.downloads import offer_download
from ppsets_core.explore.page import csv_of_rows, numbers_of, whole_page


def take_away(
    name: str, figures: Mapping[str, go.Figure], said: str, rows: Sequence[Mapping[str, object]] | None = None
) -> None:
    """Two downloads. `said`: the settings, in words, above the figures. `rows`: the view's own table, where it has one;
    else the points that are drawn."""
    file = name.lower().replace(" ", "-")
    with st.container(horizontal=True):
        offer_download(
            "Figures (HTML)",
            lambda: whole_page(f"{name}: {said}", figures),
            f"{file}.html",
            key=f"take_figures_{file}",
            help="One file that opens in any browser, without a network. For a picture, use the camera above a figure.",
        )
        offer_download(
            "Numbers (CSV)",
            lambda: csv_of_rows(numbers_of(figures) if rows is None else rows),
            f"{file}.csv",
            key=f"take_numbers_{file}",
        )
