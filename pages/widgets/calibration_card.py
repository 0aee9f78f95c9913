"""A calibration as its reader needs it: the threshold, what it does to a set, what it promises, and its file."""

import streamlit as st

from pages.widgets.active_model import warn_of_other_model
from pages.widgets.text import as_text
from ppsets_core import Calibration
from ppsets_core.wording import MARGINAL, guarantee, meaning

SIMULATION = "This is a **simulation**: its threshold was drawn for a trial and is no private release."


def show_calibration(calibration: Calibration, source: str, key: str) -> None:
    """Numbers, sentences, the JSON to keep, and the way on to Diagnose."""
    if calibration.simulated:
        st.warning(SIMULATION)
    warn_of_other_model(calibration)
    with st.container(horizontal=True, gap="medium"):
        threshold_help = "A diagnosis is in the set if 1 − its probability is at most ŝ."
        st.metric("Threshold ŝ", f"{calibration.threshold:.6g}", help=threshold_help, width="content")
        needed_help = "1 − ŝ: the probability that the model must give a diagnosis for it to be in the set."
        st.metric("Probability needed", f"{calibration.cutoff:.4g}", help=needed_help, width="content")
        st.metric("ε spent", f"{calibration.epsilon_spent:g}", width="content")
    st.write(f"{meaning(calibration)} {_promise(calibration)}")
    st.markdown(f":small[{MARGINAL}]")
    st.caption(as_text(f"From {source}: {describe(calibration)}."))
    with st.container(horizontal=True):
        st.download_button(
            "Download calibration (JSON)",
            calibration.to_json(),
            file_name="calibration.json",
            mime="application/json",
            key=f"{key}_json",
            on_click="ignore",
            icon=":material/download:",
        )
        if st.button("Go to Diagnose", key=f"{key}_diagnose", type="primary", icon=":material/arrow_forward:"):
            st.switch_page("pages/diagnose.py")


def _promise(calibration: Calibration) -> str:
    """A simulation covers as a release does, but protects nobody."""
    if not calibration.simulated:
        return guarantee(calibration.plan, calibration.unit)
    return f"Planned coverage: at least {100 * calibration.coverage_lower:.4g}%. No record is protected."


def describe(calibration: Calibration) -> str:
    """The public choices in a few words."""
    rule = {"paper": "the paper's rule", "sharp": "the sharp rule"}[calibration.method]
    return f"α = {calibration.alpha:g}, ε = {calibration.epsilon:g}, {rule}, n = {calibration.n:,} {calibration.unit}s"


def one_line(calibration: Calibration) -> str:
    """For the sidebar."""
    kind = "Simulation, not a release: " if calibration.simulated else ""
    return f"{kind}coverage ≥ {100 * calibration.coverage_lower:.4g}%, ε = {calibration.epsilon:g}"
