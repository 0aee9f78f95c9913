"""One X-ray as a card: the image, its set in words, the softmax against the cutoff, and where the model looked."""

from typing import Literal

import streamlit as st

from pages.widgets.diagnose.small_picture import show_small
from pages.widgets.diagnose.source import Examined
from pages.widgets.guard import guarded
from pages.widgets.text import as_text
from ppsets_core.diagnosis import Answer
from ppsets_core.diagnosis.thumbnail import jpeg_of, picture_of
from ppsets_core.figures.diagnosis import softmax_figure

UNLIKE_HELP = (
    "It differs more from the X-rays that the model learnt from than nearly all of the calibration's do, so its set "
    "may not be relied on as theirs are."
)
Colour = Literal["green", "blue", "orange", "red"]
BADGES: dict[str, tuple[str, str, Colour]] = {
    "one": ("One diagnosis", ":material/check_circle:", "green"),
    "several": ("Several diagnoses", ":material/rule:", "blue"),
    "none": ("No diagnosis", ":material/help:", "orange"),
    "flagged": ("Not counted", ":material/flag:", "red"),
}


@st.fragment
@guarded()
def show_card(answer: Answer, thresholds: list[float], examined: Examined) -> None:
    """A fragment of its own, so that looking closer at one card does not draw the others again."""
    finding = answer.finding
    key = f"{examined.id}-{answer.number}"
    picture = st.container()
    st.markdown(f"**{as_text(finding.name)}**")
    with st.container(horizontal=True, gap="small"):
        words, icon, colour = BADGES[answer.kind]
        st.badge(words, icon=icon, color=colour)
        if answer.familiar is False:
            st.badge("Unlike the calibration's", icon=":material/travel_explore:", color="orange", help=UNLIKE_HELP)
        if examined.synthetic:
            st.badge("Synthetic", icon=":material/science:", color="gray")
    if finding.doubt:
        st.warning(as_text(finding.doubt))
        if not st.toggle("Show its set all the same", key=f"all-the-same-{key}"):
            with picture:
                show_small(finding.thumbnail, f"Picture {answer.number + 1}")
            return
    st.write(as_text(answer.words))
    st.plotly_chart(
        softmax_figure(answer.classes, finding.probabilities, thresholds),
        key=f"softmax-{key}",
        config={"staticPlot": True},
        alt=_in_words(answer, thresholds),
    )
    heat = None
    if st.toggle("Where the model looked", key=f"heat-{key}"):
        ranked = sorted(answer.classes, key=lambda name: -finding.probabilities[answer.classes.index(name)])
        chosen = st.selectbox("for the class", ranked, key=f"heat-class-{key}")
        heat = _heat(examined, answer, answer.classes.index(chosen))
        st.caption("Red speaks most for the class. It shows what the network used, not where disease is.")
    with picture:
        show_small(finding.thumbnail if heat is None else heat, f"X-ray {answer.number + 1}")


def _heat(examined: Examined, answer: Answer, class_number: int) -> bytes:
    from ppsets_core.network.gradcam import heat_map, overlay

    picture = picture_of(answer.finding.thumbnail, answer.finding.name)
    return jpeg_of(overlay(picture, heat_map(examined.model, picture, class_number)))


def _in_words(answer: Answer, thresholds: list[float]) -> str:
    shares = zip(answer.classes, answer.finding.probabilities, thresholds, strict=True)
    return f"Softmax: {', '.join(f'{name} {p:.2f}, cutoff {1 - t:.3g}' for name, p, t in shares)}"
