"""A calibration that was saved before, loaded instead of drawn: it costs nothing."""

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from pages.widgets.active_model import warn_of_other_model
from pages.widgets.calibration_card import show_calibration
from pages.widgets.session import open_ledger, set_active_calibration
from pages.widgets.text import as_text
from ppsets_core import Calibration, FileError, Simulation
from ppsets_core.method.calibration_json import LONGEST, REMEDY, read_calibration
from ppsets_core.wording import describe


def load_saved() -> None:
    """Upload, check, show, and use on a click; a simulation is shown as one and stays marked as one."""
    st.write("The JSON file that a calibration saved. Loading it costs no privacy.")
    file = st.file_uploader("Calibration file (JSON)", ["json"], key="saved_calibration", max_upload_size=5)
    if file is None:
        return
    calibration = _read(file)
    _compare_with_ledger(calibration)
    simulated = isinstance(calibration, Simulation)
    st.write(as_text(f"A {'simulation' if simulated else 'release'}: {describe(calibration)}."))
    in_use = st.session_state.get("saved_in_use") == file.file_id
    if not in_use:
        warn_of_other_model(calibration)
    label = "Use this simulation, marked as one" if simulated else "Use this calibration"
    if st.button(label, key="use_saved", type="primary"):
        set_active_calibration(calibration, file.name)
        st.session_state["saved_in_use"] = file.file_id
        st.rerun()
    if in_use:
        st.success("In use now.")
        show_calibration(calibration, file.name, key="saved")


def _compare_with_ledger(calibration: Calibration | Simulation) -> None:
    """A release of this machine is known to its ledger, number by number; one of elsewhere cannot be checked."""
    ledger = open_ledger()
    if isinstance(calibration, Simulation) or ledger.knows(calibration):
        return
    if ledger.knows_otherwise(calibration):
        raise FileError(
            f"This calibration cannot be used: it was changed since it was released. {REMEDY} "
            "Ledger has the release as it was, for nothing."
        )
    st.warning(
        "The ledger of this machine does not know this release, so nobody can tell here whether the file was changed. "
        "Use it only if you trust where it comes from.",
        icon=":material/help:",
    )


def _read(file: UploadedFile) -> Calibration | Simulation:
    """At most a few megabytes of UTF-8; everything else is checked by the strict reader."""
    try:
        return read_calibration(file.getvalue()[: LONGEST + 1].decode("utf-8"))
    except UnicodeDecodeError:
        raise FileError(f"This calibration cannot be used: it is not text. {REMEDY}") from None
