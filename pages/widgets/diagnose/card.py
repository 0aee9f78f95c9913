"""One X-ray as a card: a small picture, its set in words, the softmax against the cutoff, the way to look closer."""

from typing import Literal

import streamlit as st

from pages.widgets.diagnose.marks import marks_of
from pages.widgets.diagnose.small_picture import show_small
from pages.widgets.diagnose.source import Examined
from pages.widgets.diagnose.viewer.dialog import look_at
from pages.widgets.guard import guarded
from pages.widgets.text import as_text
from ppsets_core.diagnose import Answer
from ppsets_core.explore.figures import softmax_figure

UNLIKE_HELP = (
    "It differs more from the X-rays that the model learnt from than nearly all of {whose} do, so its set may not be "
    "relied on as theirs are."
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
def show_card(answer: Answer, thresholds: list[float], examined: Examined) -> None:
    """A fragment of its own, so that what is done on one card does not draw the others again."""
    finding = answer.finding
    key = f"{examined.id}-{answer.number}"
    show_small(finding.thumbnail, f"X-ray {answer.number + 1}")
    if st.button("Look closely", key=f"look-{key}", icon=":material/zoom_in:", width="stretch"):
        look_at(examined.id, answer.number)
        st.rerun()
    st.markdown(f"**{as_text(finding.name)}**")
    _badges(answer, examined)
    if finding.doubt:
        st.warning(as_text(finding.doubt))
        if not st.toggle("Show its set all the same", key=f"all-the-same-{key}"):
            return
    st.write(as_text(answer.words))
    st.plotly_chart(
        softmax_figure(answer.classes, finding.probabilities, thresholds),
        key=f"softmax-{key}",
        config={"staticPlot": True},
        alt=_in_words(answer, thresholds),
    )


def _badges(answer: Answer, examined: Examined) -> None:
    with st.container(horizontal=True, gap="small"):
        words, icon, colour = BADGES[answer.kind]
        st.badge(words, icon=icon, color=colour)
        if answer.unlike:
            meaning = UNLIKE_HELP.format(whose=answer.watch.whose)
            st.badge(answer.unlike, icon=":material/travel_explore:", color="orange", help=meaning)
        if examined.synthetic:
            st.badge("Synthetic", icon=":material/science:", color="gray")
        if told := marks_of(examined.id).of(answer).words:
            st.badge(as_text(told), icon=":material/rate_review:", color="violet")


def _in_words(answer: Answer, thresholds: list[float]) -> str:
    shares = zip(answer.classes, answer.finding.probabilities, thresholds, strict=True)
    return f"Softmax: {', '.join(f'{name} {p:.2f}, cutoff {1 - t:.3g}' for name, p, t in shares)}"
