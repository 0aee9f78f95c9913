"""Changing the session's weights. A calibration holds only for the weights that made its scores."""

from typing import TYPE_CHECKING

import streamlit as st

from pages.widgets.active_model import set_active_model
from pages.widgets.calibrate.xray_source import forget_xrays
from pages.widgets.person import may_open
from pages.widgets.session import active_calibration, set_active_calibration
from pages.widgets.text import as_text

if TYPE_CHECKING:
    from ppsets_core.model import XrayModel

_SAID, _OTHER = "model_switch_said", "model_is_other"


def uses_bundled() -> bool:
    return not st.session_state.get(_OTHER, False)


def switch_to_bundled() -> None:
    switch_to(None, "the bundled ResNet-18")


def switch_to(model: "XrayModel | None", name: str) -> None:
    """Classify with other weights from here on; what belonged to the ones before is put aside."""
    set_active_model(model, name)
    st.session_state[_OTHER] = model is not None
    forget_xrays()
    said = as_text(f"This session now classifies with {name}.")
    if active_calibration() is not None:
        set_active_calibration(None, "")
        said += " The calibration was made with other weights, so it does not hold any more and is no longer active."
    st.session_state[_SAID] = said
    st.rerun()


def say_what_changed() -> None:
    """Once, after a switch."""
    if said := st.session_state.pop(_SAID, None):
        st.success(said)
        if may_open("calibrate"):
            st.page_link("pages/calibrate.py", label="Calibrate for these weights", icon=":material/tune:")
