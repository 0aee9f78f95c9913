"""Home: one X-ray with its set, what that means, and one button to X-rays with sets."""

import numpy as np
import streamlit as st

from pages.widgets import session
from pages.widgets.calibration_card import show_calibration, taken_up
from pages.widgets.demo import offer_demo
from pages.widgets.person import may_open
from pages.widgets.set_bars import STYLE, picture, set_bars
from pages.widgets.shelf import choose_from_shelf
from pages.widgets.streamlit_parts import run_through_app
from pages.widgets.text import as_text
from ppsets_core.data.bundled import SYNTHETIC, bundled_xrays
from ppsets_core.diagnose.xrays import thumbnail_of
from ppsets_core.method.sets import nonprivate_threshold
from ppsets_core.wording import NO_COVID, class_names
from ppsets_core.xrays import read_picture

STEPS = {"calibrate": "1 Calibrate", "diagnose": "2 Diagnose", "ledger": "3 Ledger"}
EXAMPLE, ALPHA = 0, 0.1


def main() -> None:
    st.title("Private prediction sets for chest X\u2011rays", anchor=False)  # a hyphen at which no line ends
    st.markdown(
        "A network gives one answer even when unsure. Here it gives the **set of diagnoses** that holds the true one "
        "9 times in 10."
    )
    offer_demo()
    calibration = session.active_calibration()
    if calibration is None or session.fits_model(calibration) is not False:
        session.warn_of_other_weights()
    _example()
    with st.container(horizontal=True):
        for page, label in STEPS.items():
            if may_open(page):
                st.page_link(f"pages/{page}.py", label=label, icon=":material/arrow_forward:")
    st.caption(as_text(" ".join(filter(None, (taken_up(), NO_COVID)))))
    if calibration is None:
        choose_from_shelf()
        return
    with st.expander("Details of the calibration"):
        show_calibration(calibration, session.calibration_source(), key="home")


def _example() -> None:
    """A synthetic X-ray with the cutoff that the public scores give without privacy, so that it is always the same."""
    records, scores = bundled_xrays(), session.bundled_scores("calibration")
    assert records.probabilities is not None
    cutoff = 1 - nonprivate_threshold(scores.scores, ALPHA)
    st.html(STYLE)
    left, right = st.columns([1, 2], gap="medium", vertical_alignment="center")
    left.html(picture(_picture(EXAMPLE), "Synthetic X-ray, computer-generated"))
    with right:
        shares = records.probabilities[EXAMPLE]
        st.html(set_bars(class_names(records.classes), shares, np.full(len(shares), cutoff).tolist()))
        st.markdown(
            "**Bars**: the model's probabilities.  \n"
            f"**Orange line**: the cutoff, here {cutoff:.2f}, from a calibration that protects each patient by "
            "differential privacy.  \n"
            "**Bold**: the set. Such sets hold the true diagnosis for 90% of similar patients."
        )


@st.cache_resource(show_spinner=False)
def _picture(number: int) -> bytes:
    file = bundled_xrays().identifiers["file"][number]
    return thumbnail_of(read_picture(SYNTHETIC.parent / file, file))


if run_through_app():
    main()
