"""Diagnose: X-rays or a table of probabilities in, ranked sets out, under the session's calibration."""

import streamlit as st

from pages.widgets import session
from pages.widgets.calibrate.sources import load_saved
from pages.widgets.calibration_card import offer_last_release
from pages.widgets.choose_files import choose_one
from pages.widgets.diagnose.results import show_results
from pages.widgets.diagnose.source import examined
from pages.widgets.diagnose.table import show_table
from pages.widgets.guard import guarded
from pages.widgets.person import may_open
from pages.widgets.shelf import choose_from_shelf
from pages.widgets.streamlit_parts import run_through_app
from pages.widgets.text import as_text
from ppsets_core import Simulation
from ppsets_core.method.calibration import BaseCalibration
from ppsets_core.wording import SIMULATED, meaning

XRAYS, TABLE = "X-rays", "A table of probabilities"


def main() -> None:
    st.title("Diagnose")
    calibration = session.active_calibration()
    if calibration is None:
        st.markdown(f":material/child_care: {as_text(session.who_it_is_for())}")
        _say_what_to_do()
        return
    why_not = session.why_not_for_xrays(calibration)
    first = TABLE if why_not else XRAYS
    what = choose_one("What do you have?", [XRAYS, TABLE], "diagnose_what", first=first)
    _say_what_applies(calibration, what)
    if what == XRAYS:
        st.markdown(f":material/child_care: {as_text(session.who_it_is_for())}")
    else:
        with guarded():
            show_table(calibration)
        return
    if why_not:
        _refuse(why_not)
        return
    found = None
    with guarded():
        found = examined()
    if found is not None:
        show_results(found, calibration)


def _refuse(why: str) -> None:
    used = f"This session classifies with {session.model_name()}."
    st.error(as_text(f"This calibration cannot be used for X-rays with this model. {why} {used}"))
    with st.container(horizontal=True):
        if may_open("calibrate"):
            st.page_link("pages/calibrate.py", label="Calibrate for this model", icon=":material/tune:")
        st.page_link("pages/model.py", label="Load the other weights", icon=":material/neurology:")


def _say_what_to_do() -> None:
    st.write("X-rays in, a ranked set of diagnoses out. First, a calibration sets the threshold for what enters a set.")
    if not may_open("calibrate"):
        st.info("This session has no calibration yet. Choose one that a curator published, or try the demo on Home.")
        _choose_other()
        return
    st.info("This session has no calibration yet. Try the demo on Home, or calibrate with records of your own.")
    offer_last_release()
    choose_from_shelf()
    with st.container(horizontal=True):
        st.page_link("pages/home.py", label="Home: try the demo", icon=":material/home:")
        st.page_link("pages/calibrate.py", label="Calibrate", icon=":material/tune:")


def _choose_other() -> None:
    """The shelf; and, for those who cannot go to Calibrate, a calibration file."""
    choose_from_shelf()
    if not may_open("calibrate"):
        load_saved()


def _say_what_applies(calibration: BaseCalibration, what: str) -> None:
    if isinstance(calibration, Simulation):
        st.warning(SIMULATED)
    if calibration.is_full:
        st.warning(as_text(meaning(calibration)), icon=":material/block:")
    else:
        st.write(as_text(meaning(calibration)))
    unknown = "; the two must belong together" if session.fits_model(calibration) is None else ""
    model = f" Model: {session.model_name()}{unknown}." if what == XRAYS else ""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(as_text(f"Calibrated with {session.calibration_source()}.{model}"), width="content")
        with st.popover("Change", type="tertiary"):
            _choose_other()
            if may_open("calibrate"):
                st.page_link("pages/calibrate.py", label="Calibrate", icon=":material/tune:")


if run_through_app():
    main()
