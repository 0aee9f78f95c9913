"""A release as an entry for OpenDP's registry of deployments: what only people know is asked, the rest is filled in."""

import streamlit as st

from pages.widgets.downloads import offer_download
from pages.widgets.guard import guarded
from ppsets_core import Calibration
from ppsets_core.method.calibration import Drawn
from ppsets_core.reports.registry import CURATOR_KINDS, Deployment, registry_yaml


@guarded()
def offer_registry_entry(calibration: Drawn, key: str) -> None:
    """Only for a private release; nothing is sent anywhere."""
    if not isinstance(calibration, Calibration) or calibration.is_trivial or not calibration.date:
        return
    with st.expander("An entry for OpenDP's registry of deployments"):
        st.caption(
            "The registry lists who releases what under differential privacy. This fills in its form, without the data "
            "set's name, as a file for you to read and send; nothing is sent from here."
        )
        left, right = st.columns(2)
        curator = left.text_input("Who publishes it", key=f"{key}_curator", persist_state="session")
        kind = right.selectbox("What they are", CURATOR_KINDS, key=f"{key}_kind", persist_state="session")
        region = left.text_input("Region of the records", key=f"{key}_region", persist_state="session")
        author = right.text_input("Who answers for the entry", key=f"{key}_author", persist_state="session")
        if not (curator.strip() and region.strip() and author.strip()):
            st.info("Fill in all four to get the file.")
            return
        offer_download(
            "Download entry (YAML)",
            registry_yaml(calibration, Deployment(curator, kind, region, author)),
            "registry-entry.yaml",
            key=f"{key}_registry",
        )
