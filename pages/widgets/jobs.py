"""Long work on a screen: start it, watch it with a bar and a Cancel button, collect what it found."""

from collections.abc import Callable
from typing import Generic, TypeVar

import streamlit as st

from pages.widgets.guard import guarded
from ppsets_core.background import Cancelled, Job, Report

Result = TypeVar("Result")


class JobKey(str, Generic[Result]):
    """The name under which a session keeps one kind of work, and the type of what that work finds."""


def start_job(key: JobKey[Result], work: Callable[[Report], Result]) -> None:
    """Begin, under a name in this session; work still going on under that name is stopped."""
    if (earlier := st.session_state.get(key)) is not None:
        earlier.cancel()
    st.session_state.pop(_cancelled(key), None)
    st.session_state[key] = Job(work)


def is_running(key: str) -> bool:
    job = st.session_state.get(key)
    return job is not None and job.running


def collect(key: JobKey[Result]) -> Result | None:
    """What finished work found, once; None if there is none. Raises what the work raised.

    That the last work was cancelled is said until other work is started."""
    job: Job[Result] | None = st.session_state.get(key)
    found = None
    if job is not None and not job.running:
        del st.session_state[key]
        try:
            found = job.result()
        except Cancelled:
            st.session_state[_cancelled(key)] = True
    if _cancelled(key) in st.session_state:
        st.info("Cancelled. What was there before is still shown.")
    return found


def _cancelled(key: str) -> str:
    return f"{key}-cancelled"


@st.fragment(run_every=0.5)
@guarded()
def show_progress(key: str, words: str, draw: Callable[[Report], None] | None = None) -> None:
    """A bar and a Cancel button, twice a second, until the work ends; `draw` adds what the work tells meanwhile."""
    job = st.session_state.get(key)
    if job is None or not job.running:
        st.rerun()
    report = job.report
    count = f" {report.done:,} of {report.total:,}" if report.total else ""
    st.progress(job.share, text=f"{report.stage or words}{count}")
    if st.button("Cancel", key=f"{key}-cancel", icon=":material/stop_circle:", disabled=report.stop.is_set()):
        job.cancel()
        st.caption("Stopping…")
    if draw:
        draw(report)
