"""Looking closely at the queue of cards, one X-ray after the other."""

import numpy as np
import streamlit as st

from pages.widgets.diagnose.marks import choose_mark
from pages.widgets.diagnose.source import Examined
from pages.widgets.diagnose.viewer.component import draw_viewer
from pages.widgets.guard import guarded
from pages.widgets.text import as_text
from ppsets_core import FileError
from ppsets_core.diagnose import Answer
from ppsets_core.diagnose.thumbnail import picture_of
from ppsets_core.xrays.shades import Shades, read_shades

_LOOKING = "diagnose_looking_at"


def look_at(batch: str, number: int) -> None:
    """Open the viewer on this X-ray, in the run after this one."""
    st.session_state[_LOOKING] = (batch, number)


def show_viewer(queue: list[Answer], examined: Examined) -> None:
    """The viewer, if one of these X-rays is being looked at."""
    batch, number = st.session_state.get(_LOOKING, (None, None))
    if batch == examined.id and any(answer.number == number for answer in queue):
        _dialog(queue, examined)


def _close() -> None:
    st.session_state.pop(_LOOKING, None)


@st.dialog("Look closely", width="large", icon=":material/zoom_in:", on_dismiss=_close)
@guarded()
def _dialog(queue: list[Answer], examined: Examined) -> None:
    numbers = [answer.number for answer in queue]
    _, number = st.session_state[_LOOKING]
    place = numbers.index(number)
    answer = queue[place]
    left, right = st.columns([7, 3])
    with right:
        st.markdown(f"**{as_text(answer.finding.name)}**")
        st.write(as_text(answer.finding.doubt or answer.words))
        if answer.unlike:
            st.badge(answer.unlike, icon=":material/travel_explore:", color="orange")
        heat = _choose_heat(answer, examined)
        choose_mark(answer, examined.id)
    with left:
        shades, sentence = _shades(answer, examined)
        asked = draw_viewer(shades, heat, name=f"{examined.id}-{number}", place=place, total=len(queue))
        if sentence:
            st.caption(sentence)
    if asked is not None:
        look_at(examined.id, numbers[asked])
        st.rerun(scope="fragment")


def _choose_heat(answer: Answer, examined: Examined) -> np.ndarray | None:
    """Where the network looked for a class, on the small picture; None where that is not asked for."""
    number = st.selectbox(
        "Where the model looked",
        range(-1, len(answer.classes)),
        key=f"heat-{examined.id}",
        format_func=lambda place: "not shown" if place < 0 else f"for {answer.classes[place]}",
    )
    if number < 0:
        return None
    from ppsets_core.model.gradcam import heat_map

    st.caption("Red speaks most for the class. It shows what the network used, not where disease is.")
    picture = picture_of(answer.finding.thumbnail, answer.finding.name)
    return heat_map(examined.model, picture, number)


def _shades(answer: Answer, examined: Examined) -> tuple[Shades, str]:
    """At full resolution where the file is at hand; else the small picture, and why."""
    finding, why = answer.finding, examined.why_small
    if examined.folder is not None:
        try:
            return read_shades(examined.folder.original(finding.name), finding.name), ""
        except FileError:
            why = "The file cannot be read again, so this is the small picture that was kept of it."
    return read_shades(finding.thumbnail, finding.name), why
