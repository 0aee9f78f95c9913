"""What one browser session holds, the active calibration; and what all share: the ledger and the bundled scores."""

import streamlit as st

from pages.widgets.person import bearer, login_is_configured
from ppsets_core import Calibration, Ledger, Simulation
from ppsets_core.data import bundled
from ppsets_core.ledger.personal import PersonalLedger
from ppsets_core.ledger.store import stamp_of
from ppsets_core.places import ledger_path

_CALIBRATION, _SOURCE = "active_calibration", "active_calibration_source"


def active_calibration() -> Calibration | Simulation | None:
    """What sets are made with, in this browser session only."""
    return st.session_state.get(_CALIBRATION)


def calibration_source() -> str:
    """Where the active calibration comes from, in a few words, as plain text that is yet to be escaped."""
    return st.session_state.get(_SOURCE, "")


def set_active_calibration(calibration: Calibration | Simulation | None, source: str) -> None:
    """From here on this session makes its sets with this; None where nothing holds any more."""
    st.session_state[_CALIBRATION] = calibration
    st.session_state[_SOURCE] = source


def open_ledger() -> Ledger:
    """The ledger of PPSETS_HOME, the same as the command line's; opened anew only where its files have changed.

    Where people log in it is in the hands of this session's person, who is looked up again at every charge."""
    path = ledger_path()
    if stamp_of(path) is None:
        Ledger(path)  # makes the files, or says why it cannot
    ledger = _opened(str(path), stamp_of(path))
    return PersonalLedger(ledger, bearer()) if login_is_configured() else ledger


@st.cache_resource(max_entries=8, show_spinner=False)
def _opened(path: str, stamp: tuple[object, ...] | None) -> Ledger:
    return Ledger(path)


bundled_scores = st.cache_resource(show_spinner=False)(bundled.bundled_scores)
