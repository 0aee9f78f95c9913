"""What one browser session holds: the active calibration. And the ledger, which all sessions of this machine share."""

import streamlit as st

from ppsets_core import Calibration, Ledger
from ppsets_core.places import ledger_path

_CALIBRATION, _SOURCE = "active_calibration", "active_calibration_source"


def active_calibration() -> Calibration | None:
    """The calibration that sets are made with, in this browser session only."""
    return st.session_state.get(_CALIBRATION)


def calibration_source() -> str:
    """Where the active calibration comes from, in a few words, as plain text that is yet to be escaped."""
    return st.session_state.get(_SOURCE, "")


def set_active_calibration(calibration: Calibration | None, source: str) -> None:
    """From here on this session makes its sets with this; None where nothing holds any more."""
    st.session_state[_CALIBRATION] = calibration
    st.session_state[_SOURCE] = source


def open_ledger() -> Ledger:
    """The ledger of PPSETS_HOME, the same as the command line's."""
    return Ledger(ledger_path())
