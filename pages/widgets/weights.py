"""Whose weights this browser session classifies with: the bundled ones, or others that it loaded or trained."""

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

import streamlit as st

from pages.widgets.session import active_calibration, set_active_calibration

if TYPE_CHECKING:
    from ppsets_core.network import XrayModel

BUNDLED = "bundled ResNet-18"
_MODEL, _NAME = "session_model", "session_model_name"


@cache
def _bundled() -> "XrayModel":
    from ppsets_core.network import load_model

    return load_model()


def model_source() -> Callable[[], "XrayModel"]:
    """A function that gives this session's model; torch is loaded when it is called, which may be in a worker."""
    model = st.session_state.get(_MODEL)
    return (lambda: model) if model is not None else _bundled


def weights_name() -> str:
    """Which weights, in a few words, as plain text that is yet to be escaped."""
    return st.session_state.get(_NAME, BUNDLED)


def uses_bundled_weights() -> bool:
    return st.session_state.get(_MODEL) is None


def use_weights(model: "XrayModel | None", name: str = BUNDLED) -> bool:
    """Classify with other weights, or with the bundled ones (None). A calibration holds only for the weights that made
    its scores, so the active one is put aside; says whether there was one."""
    st.session_state[_MODEL], st.session_state[_NAME] = model, name
    had_one = active_calibration() is not None
    set_active_calibration(None, "")
    return had_one
