"""What one browser session holds, the active calibration and model; and what all share: ledger, bundled scores."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import streamlit as st

from pages.widgets.person import bearer, login_is_configured
from pages.widgets.text import as_text
from ppsets_core import Calibration, Ledger, Simulation
from ppsets_core.data import bundled
from ppsets_core.errors import InputError
from ppsets_core.ledger.personal import PersonalLedger
from ppsets_core.ledger.store import stamp_of
from ppsets_core.method.calibration import OTHER_MODEL, BaseCalibration
from ppsets_core.model_fingerprint import bundled_facts, bundled_fingerprint
from ppsets_core.places import ledger_path
from ppsets_core.wording import BUNDLED_MODEL_IS_FOR, class_names

if TYPE_CHECKING:
    from ppsets_core.model import XrayModel

_CALIBRATION, _SOURCE = "active_calibration", "active_calibration_source"
_MODEL, _NAME = "active_model", "active_model_name"


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


bundled_cifar10 = st.cache_resource(show_spinner=False)(bundled.bundled_cifar10)
bundled_scores = st.cache_resource(show_spinner=False)(bundled.bundled_scores)


def active_model() -> "XrayModel":
    """The session's own weights if it loaded some, else the bundled ones. Loads torch: call it only to classify."""
    return model_loader()()


def model_loader() -> Callable[[], "XrayModel"]:
    """Loads what `active_model` returns now, for work that goes on without the screen."""
    own: XrayModel | None = st.session_state.get(_MODEL)
    return _bundled_model if own is None else lambda: own


def model_name() -> str:
    """What the active weights are called, as plain text that is yet to be escaped."""
    return st.session_state.get(_NAME, "the bundled ResNet-18")


def model_classes() -> tuple[str, ...]:
    """The diagnoses that the active weights know. Loads no torch."""
    if (model := st.session_state.get(_MODEL)) is not None:
        return model.classes
    return tuple((bundled_facts() or {}).get("classes", ()))


def who_it_is_for() -> str:
    """In a sentence or two; of a user's own weights, what they say of themselves. Loads no torch."""
    if _MODEL not in st.session_state:
        return BUNDLED_MODEL_IS_FOR
    classes = ", ".join(class_names(model_classes()))
    return f"{model_name()} tells {classes} apart and looks for nothing else. For whom, only its maker can say."


def set_active_model(model: "XrayModel | None", name: str) -> None:
    """From here on this session classifies with these weights; None goes back to the bundled ones."""
    st.session_state.pop(_MODEL, None)
    st.session_state.pop(_NAME, None)
    if model is not None:
        st.session_state[_MODEL], st.session_state[_NAME] = model, name


def fits_model(calibration: BaseCalibration) -> bool | None:
    """Whether the calibration was made with this session's model; None where that is not known. Loads no torch."""
    if calibration.model is None:
        return None
    return calibration.is_for(_fingerprint())


def _fingerprint() -> str | None:
    model: XrayModel | None = st.session_state.get(_MODEL)
    return bundled_fingerprint() if model is None else model.fingerprint


def warn_of_other_model(calibration: BaseCalibration) -> None:
    """Above whatever is done with a calibration that names another model than this session's."""
    if fits_model(calibration) is False:
        st.warning(as_text(f"{OTHER_MODEL} This session classifies with {model_name()}."), icon=":material/warning:")


def why_not_for_xrays(calibration: BaseCalibration) -> str:
    """Why this session's model cannot be used with the calibration, and what to do; '' where nothing speaks against it.

    Loads no torch."""
    if not calibration.classes and calibration.model is None:
        return ""
    try:
        calibration.check_fits(model_classes(), _fingerprint())
    except InputError as error:
        return str(error)
    return ""


def warn_of_other_weights() -> None:
    """The bundled scores are the bundled network's, and a threshold holds only for the network behind its scores."""
    if _MODEL in st.session_state:
        used = f"This session classifies with {model_name()}, but the bundled scores come from the bundled network."
        st.warning(as_text(f"{used} A calibration on them does not hold for these weights: switch back on Model."))


@st.cache_resource(show_spinner=False)
def _bundled_model() -> "XrayModel":
    from ppsets_core.model import load_model

    return load_model()
