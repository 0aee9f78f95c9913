"""The sets of X-rays: counts, check, filter, order, cards in pages, and a table."""

from base64 import b64encode
from math import ceil
from typing import Literal

import streamlit as st

from pages.widgets.diagnose.check import show_check
from pages.widgets.diagnose.source import Examined
from pages.widgets.diagnose.summary import choose_reading, show_cautions, show_counts, show_downloads
from pages.widgets.diagnose.viewer.dialog import look_at, show_viewer
from pages.widgets.guard import guarded
from pages.widgets.text import as_text, columns_with_values, show_refused
from ppsets_core.diagnose.exports import as_table
from ppsets_core.diagnose.set_table import ORDERS, SetRow, SetTable, sets_of
from ppsets_core.explore.figures import softmax_figure
from ppsets_core.method.calibration import BaseCalibration

A_PAGE, A_ROW = 12, 3
UNKNOWN = "another one"
STYLE = "<style>img.xray { display: block; width: 100%; height: 15rem; object-fit: contain; background: #000; }</style>"
BADGES: dict[str, tuple[str, str, Literal["blue", "orange"]]] = {
    "one": ("One diagnosis", ":material/radio_button_checked:", "blue"),
    "several": ("Several diagnoses", ":material/rule:", "blue"),
    "none": ("No diagnosis", ":material/help:", "orange"),
    "flagged": ("Flagged", ":material/flag:", "orange"),
}


def show_results(examined: Examined, calibration: BaseCalibration) -> None:
    group = _choose_group(calibration)
    if calibration.group_names and group is None:
        return
    found = examined.xrays
    show_refused(found.refused)
    if not len(found):
        st.error("None of these files could be read as an X-ray. The list above says why.")
        return
    sets = sets_of(found.records, calibration, group=group, xrays=found)
    show_counts(sets.counts, calibration, found.records.model, xrays=True)
    if examined.synthetic:
        st.info("These X-rays are **synthetic**: computer-generated, not real patients.", icon=":material/science:")
    show_downloads(sets, marks=examined.marks, synthetic=examined.synthetic)
    show_check(sets, f"{examined.id}-{group}", "checked X-rays")
    shown = sets.shown()
    cards, table = st.tabs(["Cards", "Table"])
    with cards:
        _cards(shown, examined)
    with table:
        rows = as_table(shown, marks=examined.marks).to_pylist()
        in_download = ["diagnoses", *(f"p({name})" for name in shown.classes)]
        st.dataframe(
            rows,
            hide_index=True,
            column_order=columns_with_values(rows, besides=in_download),
            column_config={name: st.column_config.Column(width="medium") for name in ("file", "set")},
            alt="Every X-ray with its set and review",
        )
        st.caption("The probabilities of every diagnosis are on the cards and in the download.")


def _choose_group(calibration: BaseCalibration) -> str | None:
    """The group of all these X-rays, where each group has its own threshold."""
    if not calibration.group_names:
        return None
    label, options = as_text(f"These X-rays are of the {calibration.per}"), [*calibration.group_names, UNKNOWN]
    words = f"Say which {calibration.per}: each has its own threshold"
    chosen = st.selectbox(label, options, None, key="diagnose_group", persist_state="session", placeholder=words)
    if chosen == UNKNOWN:
        st.info("Nothing is calibrated for another one, so every set holds every diagnosis.")
    return chosen


@st.fragment
@guarded()
def _cards(sets: SetTable, examined: Examined) -> None:
    """A fragment, so that turning a page draws that page's cards anew and nothing else, however many there are."""
    left, right = st.columns([2, 1], vertical_alignment="bottom")
    with left:
        reading = choose_reading(sets, "Diagnoses in the set", f"diagnose_filter_{examined.id}", missed=True)
    order = right.selectbox("Order", list(ORDERS), key="diagnose_order", persist_state="session")
    picked = sets.rows(reading, order)
    if not picked:
        st.info("No X-ray is of this kind.")
        return
    number = 1
    if (pages := ceil(len(picked) / A_PAGE)) > 1:
        number = st.pagination(pages, key=f"diagnose_page_{examined.id}_{reading}_{order}")
    shown = [sets[row] for row in picked[(number - 1) * A_PAGE : number * A_PAGE]]
    show_viewer(sets, picked, examined)
    st.html(STYLE)
    for start in range(0, len(shown), A_ROW):
        for column, row in zip(st.columns(A_ROW), shown[start : start + A_ROW], strict=False):
            with column.container(border=True, height="stretch", key=f"card-{examined.id}-{row.number}"):
                _card(row, examined)


@st.fragment
@guarded()
def _card(row: SetRow, examined: Examined) -> None:
    """A fragment, so that what is done on one card does not draw the others again."""
    key = f"{examined.id}-{row.number}"
    source = f"data:image/jpeg;base64,{b64encode(row.thumbnail).decode('ascii')}"  # no address for others to ask for
    st.html(f'<img class="xray" alt="X-ray {row.number + 1}" src="{source}">')
    if st.button("Open viewer", key=f"look-{key}", icon=":material/zoom_in:", width="stretch"):
        look_at(examined.id, row.number)
        st.rerun()
    st.markdown(f"**{as_text(row.name)}**")
    _badges(row, examined)
    show_cautions(row)
    if row.doubt:
        st.warning(as_text(row.doubt))
        if not st.toggle("Show its set all the same", key=f"all-the-same-{key}"):
            return
    if not row.is_unfamiliar:
        st.write(as_text(row.words))
    cutoffs = row.cutoffs
    needed = [f"{name} {p:.2f}, cutoff {cutoffs[name]:.3g}" for name, p in zip(cutoffs, row.shares, strict=True)]
    st.plotly_chart(
        softmax_figure(row.classes, row.shares, list(cutoffs.values()), muted=bool(row.is_unfamiliar)),
        key=f"softmax-{key}",
        config={"staticPlot": True},
        alt=f"Softmax: {', '.join(needed)}",
    )


def _badges(row: SetRow, examined: Examined) -> None:
    with st.container(horizontal=True, gap="small"):
        if row.doubt or not row.is_unfamiliar:
            words, icon, colour = BADGES[row.reading]
            st.badge(words, icon=icon, color=colour)
        if examined.synthetic:
            st.badge("Synthetic", icon=":material/science:", color="gray")
        if review := examined.marks.of(row).words:
            st.badge(as_text(review), icon=":material/rate_review:", color="violet")
