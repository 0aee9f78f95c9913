"""What a screen makes of long work."""

import time

import streamlit as st

from pages.widgets.jobs import JobKey, _cancel, collect, start_job
from ppsets_core.progress import JobProgress

KEY = JobKey[str]("test_jobs")


def test_work_that_ended_before_it_was_cancelled_is_handed_out():
    start_job(KEY, lambda report: "paid for")
    while st.session_state[KEY].running:
        time.sleep(0.01)
    _cancel(KEY)
    assert collect(KEY) == "paid for"


def test_work_that_is_cancelled_in_time_hands_out_nothing():
    def forever(report: JobProgress) -> str:
        while True:
            report(1, 2)
            time.sleep(0.01)

    start_job(KEY, forever)
    _cancel(KEY)
    assert collect(KEY) is None
