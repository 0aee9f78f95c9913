"""Diagnose: X-rays or a table of probabilities in, ranked sets out, under the session's calibration."""

import streamlit as st

from pages.widgets import session
from pages.widgets.calibrate.plans import show_coverage_of_each
from pages.widgets.calibrate.sources import load_saved
from pages.widgets.choose_files import choose_one
from pages.widgets.demo import offer_demo, say_what_demo_did
from pages.widgets.diagnose.results import show_results
from pages.widgets.diagnose.source import INPUTS, choose_source, classified
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
_WHAT = "diagnose_what"


def main() -> None:
    """The inputs are in full view until there are results, then behind one line beside the title."""
    head = st.container(horizontal=True, vertical_alignment="center", key="diagnose_head")
    head.title("Diagnose", anchor=False, width="content")
    calibration = session.active_calibration()
    if calibration is None:
        _say_what_to_do()
        return
    say_what_demo_did()
    why_not = session.why_not_for_xrays(calibration)
    what, found = st.session_state.get(_WHAT, TABLE if why_not else XRAYS), None
    if isinstance(calibration, Simulation):
        st.warning(SIMULATED)
    if calibration.is_full:
        st.warning(as_text(meaning(calibration)), icon=":material/block:")
    if what == XRAYS and not why_not:
        with guarded():
            found = classified()
    inputs = st.container()
    if found is not None:
        inputs = head.popover(f"{as_text(found.words)} · Change", key=INPUTS, on_change="rerun")
    with head:
        _show_calibration(calibration, what)
    with inputs:
        choose_one("What do you have?", [XRAYS, TABLE], _WHAT, first=what)
        with guarded():
            if what == TABLE:
                show_table(calibration)
            elif why_not:
                _refuse(why_not)
            else:
                choose_source()
    if found is not None:
        show_results(found, calibration, head)


def _refuse(why: str) -> None:
    used = f"This session classifies with {session.model_name()}."
    st.error(as_text(f"This calibration cannot be used for X-rays with this model. {why} {used}"))
    with st.container(horizontal=True):
        if may_open("calibrate"):
            st.page_link("pages/calibrate.py", label="Calibrate for this model", icon=":material/tune:")
        st.page_link("pages/model.py", label="Load the other weights", icon=":material/neurology:")


def _say_what_to_do() -> None:
    st.markdown(f":material/child_care: {as_text(session.who_it_is_for())}")
    st.write("X-rays in, a ranked set of diagnoses out. First, a calibration sets the cutoff for what enters a set.")
    offer_demo()
    _choose_other()


def _choose_other() -> None:
    """The shelf; and Calibrate or, for those who cannot go there, a calibration file."""
    choose_from_shelf()
    if may_open("calibrate"):
        st.page_link("pages/calibrate.py", label="Calibrate", icon=":material/tune:")
    else:
        load_saved()


def _show_calibration(calibration: BaseCalibration, what: str) -> None:
    """What the sets are made with, in a few words; what that means and how to change it, behind them."""
    source = session.calibration_source()
    with st.popover(as_text(f"{source} · {_cutoff(calibration)}"), type="tertiary"):
        if not calibration.is_full:
            st.write(as_text(meaning(calibration)))
        show_coverage_of_each(calibration)
        unknown = "; the two must belong together" if session.fits_model(calibration) is None else ""
        model = f" Model: {session.model_name()}{unknown}." if what == XRAYS else ""
        st.caption(as_text(f"Calibrated with {source}.{model}"))
        _choose_other()


def _cutoff(calibration: BaseCalibration) -> str:
    if calibration.is_full:
        return "no cutoff"
    if not calibration.has_cutoffs:
        return str(calibration.score)
    return f"cutoff {calibration.cutoff:.3g}" if calibration.per is None else f"a cutoff for each {calibration.per}"


if run_through_app():
    main()
