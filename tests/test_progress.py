"""Long work in a thread: its result, its errors, its cancelling, and its end with the session; and the time left."""

import gc
import threading

import pytest

from ppsets_core import progress
from ppsets_core.errors import InputError
from ppsets_core.progress import Cancelled, Job, JobProgress


def count_forever(report):
    step = 0
    while True:
        step += 1
        report(step % 10, 10)


@pytest.fixture
def clock(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def test_a_result_an_error_or_a_cancellation_reaches_the_caller():
    def refuse(report):
        raise InputError("too few")

    job = Job(lambda report: report(1, 4) or "found")
    assert job.result() == "found"
    assert (job.running, job.progress.share) == (False, 0.25)
    with pytest.raises(InputError, match="too few"):
        Job(refuse).result()
    job = Job(count_forever)
    assert job.running
    job.cancel()
    with pytest.raises(Cancelled):
        job.result()


def test_work_ends_when_nobody_holds_the_job_or_watches_it(monkeypatch):
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
    monkeypatch.setattr(progress, "GRACE", 0.2)
    monkeypatch.setattr(progress, "ASKED_EVERY", 0.01)
    with pytest.raises(Cancelled):
        Job(count_forever, lambda: False).result()


def test_work_that_is_watched_again_in_time_goes_on(clock):
    watched = [True]
    report = JobProgress(lambda: watched[0])
    for second in range(200):
        clock[0], watched[0] = 100 + second, second % 15 < 3  # away for 12 seconds at a time
        report(second, 200)
    watched[0], clock[0] = False, 301
    report.check()
    clock[0] = 330
    with pytest.raises(Cancelled):
        report.check()


def test_time_left_is_at_the_pace_of_this_stage_once_it_has_settled(clock):
    report = JobProgress()
    assert report.seconds_left is None
    report(10, 40)
    clock[0] += 1
    report(11, 40)
    assert report.seconds_left is None
    clock[0] += 7
    report(20, 40)
    assert report.seconds_left == pytest.approx(8 / 10 * 20)
    report(1, 9)
    assert report.seconds_left is None
