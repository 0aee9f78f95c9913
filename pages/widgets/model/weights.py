"""Which weights this session classifies with, and loading others."""

import streamlit as st

from pages.widgets.active_model import active_model, model_name
from pages.widgets.downloads import offer_download
from pages.widgets.model.files import bytes_of, model_from
from pages.widgets.model.switch import switch_to, switch_to_bundled, uses_bundled
from pages.widgets.text import as_text
from ppsets_core.files.names import shown_name

LARGEST_MB = 64


def show_weights() -> None:
    st.write(as_text(f"This session classifies with {model_name()}."))
    with st.container(horizontal=True):
        if st.button("Back to the bundled weights", key="model_bundled", disabled=uses_bundled()):
            switch_to_bundled()
        offer_download(
            "Download these weights",
            lambda: bytes_of(active_model()),
            "resnet18_xray.safetensors",
            key="model_download",
        )
    st.subheader("Load other weights", anchor=False)
    st.write(
        "A ResNet-18 that this app or `ppsets train` saved, as safetensors. "
        "A calibration made with other weights does not hold for them: calibrate again afterwards."
    )
    file = st.file_uploader(
        f"Weights: one .safetensors file, at most {LARGEST_MB} MB",
        ["safetensors"],
        key="model_file",
        max_upload_size=LARGEST_MB,
    )
    if st.button("Use these weights", type="primary", key="model_load", disabled=file is None) and file is not None:
        with st.spinner("Loading the weights …"):
            model = model_from(file.getvalue(), file.name)
        switch_to(model, shown_name(file.name))
