"""Which weights this session classifies with: loading, saving and switching them."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import streamlit as st

from pages.widgets.calibrate.sources import forget_xrays
from pages.widgets.person import may_open
from pages.widgets.session import active_calibration, active_model, model_name, set_active_calibration, set_active_model
from pages.widgets.text import as_text, offer_download
from ppsets_core.files.names import shown_name

if TYPE_CHECKING:
    from ppsets_core.model import XrayModel


LARGEST_MB = 64
_SAID, _OTHER = "model_switch_said", "model_is_other"


def model_from(data: bytes, name: str = "The upload") -> "XrayModel":
    """The model in an uploaded safetensors file; anything else is refused."""
    from ppsets_core.model import load_model

    with TemporaryDirectory() as folder:
        path = Path(folder, "weights.safetensors")
        path.write_bytes(data)
        return load_model(path, name=name)


def bytes_of(model: "XrayModel") -> bytes:
    """The model as a safetensors file."""
    from ppsets_core.model import save_model

    with TemporaryDirectory() as folder:
        path = Path(folder, "weights.safetensors")
        save_model(model, path)
        return path.read_bytes()


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


def show_weights() -> None:
    st.write(as_text(f"This session classifies with {model_name()}."))
    with st.container(horizontal=True):
        is_bundled = not st.session_state.get(_OTHER, False)
        if st.button("Back to the bundled weights", key="model_bundled", disabled=is_bundled):
            switch_to(None, "the bundled ResNet-18")
        name = "resnet18_xray.safetensors"
        offer_download("Download these weights", lambda: bytes_of(active_model()), name, key="model_download")
    st.header("Load other weights", anchor=False)
    st.write(
        "A ResNet-18 that this app or `ppsets train` saved, as safetensors. "
        "A calibration made with other weights does not hold for them: calibrate again afterwards."
    )
    label = f"Weights: one .safetensors file, at most {LARGEST_MB} MB"
    file = st.file_uploader(label, ["safetensors"], key="model_file", max_upload_size=LARGEST_MB)
    if st.button("Use these weights", type="primary", key="model_load", disabled=file is None) and file is not None:
        with st.spinner("Loading the weights …"):
            model = model_from(file.getvalue(), file.name)
        switch_to(model, shown_name(file.name))
