"""Long work on a screen: start it, watch it with a bar and a Cancel button, collect what it found."""

from collections.abc import Callable
from typing import Generic, TypeVar

import streamlit as st

from pages.widgets.guard import guarded
from pages.widgets.streamlit_parts import browser_is_there
from ppsets_core.progress import Cancelled, Job, JobProgress, duration

Result = TypeVar("Result")


class JobKey(str, Generic[Result]):
    """The name under which a session keeps one kind of work, and the type of what that work finds."""


def start_job(key: JobKey[Result], work: Callable[[JobProgress], Result]) -> None:
    """Begin, under a name in this session; work still going on under that name is stopped."""
    if (earlier := st.session_state.get(key)) is not None:
        earlier.cancel()
    st.session_state.pop(_cancelled(key), None)
    st.session_state[key] = Job(work, browser_is_there())


def is_running(key: str) -> bool:
    job = st.session_state.get(key)
    return job is not None and job.running and not job.cancelled


def collect(key: JobKey[Result]) -> Result | None:
    """What finished work found, once; None if there is none. Raises what the work raised.

    Cancelled work is not waited for: it ends by itself. That it was is said until other work is started."""
    job: Job[Result] | None = st.session_state.get(key)
    found = None
    if job is not None and (job.cancelled or not job.running):
        del st.session_state[key]
        try:
            if job.cancelled and job.running:
                raise Cancelled
            found = job.result()  # of work that ended before it heard of it, too: it may have been paid for
        except Cancelled:
            st.session_state[_cancelled(key)] = True
    if _cancelled(key) in st.session_state:
        st.info("Cancelled. What was there before is still shown.")
    return found


def latest(key: JobKey[Result], kept: str, words: str) -> Result | None:
    """Show how far the work is; return what the last finished one found, which the session keeps under `kept`."""
    if is_running(key):
        show_progress(key, words)
    if (found := collect(key)) is not None:
        st.session_state[kept] = found
    return st.session_state.get(kept)


def stop_job(key: str) -> None:
    """Cancel work that nobody waits for any more, and forget it."""
    if (job := st.session_state.pop(key, None)) is not None:
        job.cancel()


def _cancel(key: str) -> None:
    """By name: a button that held the job would keep what it found for as long as the session lasts."""
    if (job := st.session_state.get(key)) is not None:
        job.cancel()


def _cancelled(key: str) -> str:
    return f"{key}-cancelled"


@st.fragment(run_every=0.5)
@guarded()
def show_progress(key: str, words: str, draw: Callable[[JobProgress], None] | None = None) -> None:
    """A bar and a Cancel button, twice a second, until the work ends; `draw` adds what the work tells meanwhile."""
    if not is_running(key):
        st.rerun()
    progress: JobProgress = st.session_state[key].progress
    count = f" {progress.done:,} of {progress.total:,}" if progress.total else ""
    left = "" if progress.seconds_left is None else f", {duration(progress.seconds_left)} left"
    st.progress(progress.share, text=f"{progress.stage or words}{count}{left}")
    st.button("Cancel", key=f"{key}-cancel", icon=":material/stop_circle:", on_click=_cancel, args=(key,))
    if draw:
        draw(progress)
