"""X-rays to diagnose: files, a zip, a folder, or the bundled synthetic ones; classified in the background."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from uuid import uuid4

import streamlit as st

from pages.widgets.active_model import active_model
from pages.widgets.jobs import JobKey, collect, is_running, show_progress, start_job
from pages.widgets.xray_upload import choose_xrays
from ppsets_core.background import Report
from ppsets_core.diagnosis import Findings, examine
from ppsets_core.errors import InputError
from ppsets_core.places import ASSETS
from ppsets_core.xrays import read_folder
from ppsets_core.xrays.sources import Source

if TYPE_CHECKING:
    from ppsets_core.network import XrayModel

SYNTHETIC = tuple(sorted(ASSETS.glob("synthetic_*.png")))
MOST = 5000
_JOB, _DONE = JobKey["Examined"]("diagnose_job"), "diagnose_examined"


@dataclass(frozen=True, eq=False)
class Examined:
    """What this session classified last, and with which model."""

    findings: Findings
    model: "XrayModel"
    synthetic: bool
    id: str = field(default_factory=lambda: uuid4().hex)


def examined() -> Examined | None:
    """What to show: the X-rays classified last, unless the session's weights have changed since."""
    left, right = st.columns([2, 1])
    with left:
        source = choose_xrays("diagnose")
        clicked = st.button(
            "Find their prediction sets",
            type="primary",
            key="diagnose_start",
            disabled=source is None or is_running(_JOB),
            icon=":material/radiology:",
        )
        if clicked and source is not None:
            _start(source, synthetic=False)
    with right.container(border=True):
        st.markdown("**No X-rays at hand?**")
        st.caption(f"{len(SYNTHETIC)} synthetic X-rays come with the app. They were drawn by a program, of no patient.")
        if st.button("Use the synthetic X-rays", key="diagnose_synthetic", disabled=not SYNTHETIC or is_running(_JOB)):
            _start(list(SYNTHETIC), synthetic=True)
    if is_running(_JOB):
        show_progress(_JOB, "X-rays classified:")
    if (found := collect(_JOB)) is not None:
        st.session_state[_DONE] = found
    done: Examined | None = st.session_state.get(_DONE)
    if done is not None and done.model is not active_model():
        del st.session_state[_DONE]
        st.info("The model has changed since X-rays were classified here. Classify them again.")
        return None
    return done


def _start(source: Source, synthetic: bool) -> None:
    model = active_model()

    def work(report: Report) -> Examined:
        folder = read_folder(source, labels=False)
        if len(folder.xrays) > MOST:
            raise InputError(
                f"{len(folder.xrays):,} X-rays are more than the {MOST:,} that one screen can hold. "
                "Give fewer, or run `ppsets predict` on the folder."
            )
        return Examined(examine(model, folder, progress=report), model, synthetic)

    start_job(_JOB, work)
    st.rerun()
