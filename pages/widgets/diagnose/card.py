"""One X-ray as a card: a small picture, its set in words, the softmax against the cutoff, the way to look closer."""

from base64 import b64encode
from typing import Literal

import streamlit as st

from pages.widgets.diagnose.source import Examined
from pages.widgets.diagnose.viewer.dialog import look_at
from pages.widgets.guard import guarded
from pages.widgets.text import as_text
from ppsets_core.diagnose.set_table import SetRow
from ppsets_core.explore.figures import softmax_figure

UNFAMILIAR_HELP = (
    "It differs more from the X-rays that the model learnt from than nearly all X-rays of {whose} do, so its set is "
    "less reliable than theirs."
)
Colour = Literal["green", "blue", "orange", "red"]
BADGES: dict[str, tuple[str, str, Colour]] = {
    "one": ("One diagnosis", ":material/check_circle:", "green"),
    "several": ("Several diagnoses", ":material/rule:", "blue"),
    "none": ("No diagnosis", ":material/help:", "orange"),
    "flagged": ("Flagged", ":material/flag:", "red"),
}


@st.fragment
@guarded()
def show_card(row: SetRow, examined: Examined) -> None:
    """A fragment, so that what is done on one card does not draw the others again."""
    key = f"{examined.id}-{row.number}"
    _show_small(row.thumbnail, f"X-ray {row.number + 1}")
    if st.button("Open viewer", key=f"look-{key}", icon=":material/zoom_in:", width="stretch"):
        look_at(examined.id, row.number)
        st.rerun()
    st.markdown(f"**{as_text(row.name)}**")
    _badges(row, examined)
    if row.doubt:
        st.warning(as_text(row.doubt))
        if not st.toggle("Show its set all the same", key=f"all-the-same-{key}"):
            return
    st.write(as_text(row.words))
    cutoffs = row.cutoffs
    needed = [f"{name} {p:.2f}, cutoff {cutoffs[name]:.3g}" for name, p in zip(cutoffs, row.shares, strict=True)]
    st.plotly_chart(
        softmax_figure(row.classes, row.shares, [1 - cutoff for cutoff in cutoffs.values()]),
        key=f"softmax-{key}",
        config={"staticPlot": True},
        alt=f"Softmax: {', '.join(needed)}",
    )


def _show_small(jpeg: bytes, words: str) -> None:
    """Sent within the page: it has no address, so nobody else can ask the server for it. `words` are ours, never a
    file's name."""
    source = f"data:image/jpeg;base64,{b64encode(jpeg).decode('ascii')}"
    st.html(f'<img class="xray" alt="{words}" src="{source}">')


def _badges(row: SetRow, examined: Examined) -> None:
    with st.container(horizontal=True, gap="small"):
        words, icon, colour = BADGES[row.reading]
        st.badge(words, icon=icon, color=colour)
        if row.is_unfamiliar:
            meaning = UNFAMILIAR_HELP.format(whose=row.table.novelty_threshold.compared_with)
            st.badge("Unfamiliar X-ray", icon=":material/travel_explore:", color="orange", help=meaning)
        if examined.synthetic:
            st.badge("Synthetic", icon=":material/science:", color="gray")
        if review := examined.marks.of(row).words:
            st.badge(as_text(review), icon=":material/rate_review:", color="violet")
