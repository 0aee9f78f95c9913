"""Long work in a thread: its result, its errors, its cancelling, and its end with the session."""

import gc
import threading

import pytest

from ppsets_core.background import Cancelled, Job
from ppsets_core.errors import InputError


def count_forever(report):
    step = 0
    while True:
        step += 1
        report(step % 10, 10)


def test_result_and_progress():
    def work(report):
        report(1, 4)
        return "found"

    job = Job(work)
    assert job.result() == "found"
    assert not job.running
    assert job.share == 0.25


def test_an_error_reaches_whoever_asks_for_the_result():
    def work(report):
        raise InputError("too few")

    job = Job(work)
    with pytest.raises(InputError, match="too few"):
        job.result()


def test_cancel_stops_at_the_next_report():
    job = Job(count_forever)
    assert job.running
    job.cancel()
    with pytest.raises(Cancelled):
        job.result()


def test_work_ends_when_nobody_holds_the_job():
    ended = threading.Event()

    def work(report):
        try:
            count_forever(report)
        finally:
            ended.set()

    job = Job(work)
    assert job.running
    del job
    gc.collect()
    assert ended.wait(timeout=30)
