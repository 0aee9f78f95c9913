"""The sets of X-rays: cards in pages or a table, by filter and order; below them what if, and the check."""

from base64 import b64encode
from io import BytesIO
from math import ceil
from typing import TYPE_CHECKING, Literal

import numpy as np
import streamlit as st
from PIL import Image

from pages.widgets.diagnose.check import show_check
from pages.widgets.diagnose.source import Examined
from pages.widgets.diagnose.summary import choose_reading, show_alarm, show_cautions, show_downloads, shown_table
from pages.widgets.diagnose.viewer import look_at, show_viewer
from pages.widgets.guard import guarded
from pages.widgets.set_bars import LEGEND, STYLE, picture, set_bars
from pages.widgets.text import as_text, columns_with_values, show_refused
from pages.widgets.what_if import MOST as MOST_FOLLOWED
from pages.widgets.what_if import Shown, show_what_if
from ppsets_core.diagnose.set_table import MISSES_FIRST, ORDERS, SetRow, SetTable, sets_of
from ppsets_core.method.calibration import BaseCalibration
from ppsets_core.model_fingerprint import bundled_fingerprint
from ppsets_core.wording import scope

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

A_PAGE, A_ROW = 12, 4
MOST_PICTURES, PICTURE = 500, (64, 64)
WIDTHS = {"set": 250, "caution": 155, "true diagnosis": 130, "file": 110}  # pixels
CARDS, TABLE = "Cards", "Table"
UNKNOWN = "another one"
# The name is the button to the viewer; it reaches over the picture.
CARD_STYLE = """<style>
[class*=st-key-card-] { position: relative }
[class*=st-key-look-], [class*=st-key-look-] * { position: static !important }
[class*=st-key-look-] button::after {
  content: ""; position: absolute !important; inset: 0 0 auto; height: 12.5rem; cursor: zoom-in;
}
[class*=st-key-look-] button { min-height: 0; padding: 0 }
[class*=st-key-look-] button:focus-visible::after { outline: 3px solid #0072B2; border-radius: .5rem }
</style>"""
BADGES: dict[str, tuple[str, str, Literal["blue", "orange"]]] = {
    "one": ("One diagnosis", ":material/radio_button_checked:", "blue"),
    "several": ("Several diagnoses", ":material/rule:", "blue"),
    "none": ("No diagnosis", ":material/help:", "orange"),
    "flagged": ("Flagged", ":material/flag:", "orange"),
}


def show_results(examined: Examined, calibration: BaseCalibration, head: "DeltaGenerator") -> None:
    """head: the line beside the title, which the downloads join."""
    group = _choose_group(calibration)
    if calibration.group_names and group is None:
        return
    found = examined.xrays
    show_refused(found.refused)
    if not len(found):
        st.error("None of these files could be read as an X-ray. The list above says why.")
        return
    sets = sets_of(found.records, calibration, group=group, xrays=found)
    is_bundled = found.records.model == bundled_fingerprint()
    with head:
        if is_bundled:
            st.caption("Ages 1–5 only; COVID-19 counts as viral", width="content")
        show_downloads(sets, marks=examined.marks, synthetic=examined.synthetic)
    if sets.alarm.is_on:
        show_alarm(sets.alarm)
    _sets(sets.shown(), examined)
    st.caption(as_text(f"{LEGEND} {scope(calibration)}"))
    if not sets.alarm.thresholds:
        st.caption(sets.alarm.words)
    if is_bundled:
        _what_if(sets)
    show_check(sets, f"{examined.id}-{group}", "checked X-rays")


def _what_if(sets: SetTable) -> None:
    """What other settings would do to the first of these X-rays; drawn only while it is open."""
    doubtful = sets.flagged if sets.unfamiliar is None else sets.flagged | sets.unfamiliar
    if not len(rows := np.flatnonzero(~doubtful)[:MOST_FOLLOWED]):
        return
    panel = st.expander("What if", key="diagnose_what_if", on_change="rerun")
    if panel.open:
        seen = [sets[row] for row in rows]
        followed = Shown(tuple(r.thumbnail for r in seen), tuple(r.name for r in seen), sets.probabilities[rows])
        with panel:
            show_what_if("diagnose_followed", followed)


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
def _sets(sets: SetTable, examined: Examined) -> None:
    """A fragment, so that turning a page draws that page's cards anew and nothing else, however many there are."""
    with st.container(horizontal=True, vertical_alignment="center"):
        reading = choose_reading(sets, f"diagnose_filter_{examined.id}")
        hidden: Literal["collapsed"] = "collapsed"
        orders = [name for name in ORDERS if name != MISSES_FIRST or sets.missed.any()]
        key = f"diagnose_order_{len(orders)}"
        look = ("Order", orders, 0, "Order: {}".format, key)
        order = st.selectbox(*look, persist_state="session", label_visibility=hidden, width=260)
        view = st.segmented_control(
            "View", [CARDS, TABLE], default=CARDS, required=True, key="diagnose_view", label_visibility=hidden
        )
    picked = sets.rows(reading, order)
    show_viewer(sets, picked, examined)
    (_cards if view == CARDS else _table)(sets, picked, examined, f"{reading}_{order}")


def _table(sets: SetTable, picked: list[int], examined: Examined, key: str) -> None:
    small = [_tiny(sets[row].thumbnail) for row in picked] if len(picked) <= MOST_PICTURES else [""] * len(picked)
    rows = shown_table(sets, picked, examined.marks).to_pylist()
    rows = [
        {"X-ray": seen} | {name: "" if value is None else value for name, value in row.items()}
        for seen, row in zip(small, rows, strict=True)
    ]
    columns = columns_with_values(rows, besides=("reading", "novelty", "unfamiliar"))
    st.dataframe(
        rows,
        hide_index=True,
        row_height=52,
        column_order=columns,
        column_config={name: st.column_config.Column(width=WIDTHS.get(name, 75)) for name in columns}
        | {"X-ray": st.column_config.ImageColumn(width=60)}
        | {n: st.column_config.NumberColumn(n[2:-1], format="%.2f", width=60) for n in columns if n.startswith("p(")},
        alt="Every X-ray with its probabilities, set, true diagnosis and review",
    )


def _tiny(jpeg: bytes) -> str:
    image, out = Image.open(BytesIO(jpeg)), BytesIO()
    image.thumbnail(PICTURE)
    image.save(out, "JPEG")
    return f"data:image/jpeg;base64,{b64encode(out.getvalue()).decode('ascii')}"


def _cards(sets: SetTable, picked: list[int], examined: Examined, key: str) -> None:
    number = 1
    if (pages := ceil(len(picked) / A_PAGE)) > 1:
        number = st.pagination(pages, key=f"diagnose_page_{examined.id}_{key}")
    shown = [sets[row] for row in picked[(number - 1) * A_PAGE : number * A_PAGE]]
    st.html(STYLE + CARD_STYLE)
    for start in range(0, len(shown), A_ROW):
        for column, row in zip(st.columns(A_ROW), shown[start : start + A_ROW], strict=False):
            with column.container(border=True, height="stretch", key=f"card-{examined.id}-{row.number}", gap="xsmall"):
                _card(row, examined)


@st.fragment
@guarded()
def _card(row: SetRow, examined: Examined) -> None:
    """A fragment, so that what is done on one card does not draw the others again."""
    key = f"{examined.id}-{row.number}"
    st.html(picture(row.thumbnail, f"X-ray {row.name}"))
    if st.button(as_text(row.name), key=f"look-{key}", icon=":material/zoom_in:", type="tertiary", wrap=False):
        look_at(examined.id, row.number)
        st.rerun()
    if row.doubt or not (row.is_unfamiliar or row.is_missed):
        words, icon, colour = BADGES[row.reading]
        if row.table.alarm.is_on:
            words, colour = f"{words}, in an unfamiliar batch", "orange"
        st.badge(words, icon=icon, color=colour)
    show_cautions(row)
    if review := examined.marks.of(row).words:
        st.caption(as_text(f"Your review: {review}"))
    if row.doubt:
        st.warning(as_text(row.doubt))
        if not st.toggle("Show its set all the same", key=f"all-the-same-{key}"):
            return
    st.html(set_bars(row.classes, row.shares, list(row.cutoffs.values()), muted=bool(row.is_unfamiliar)))
