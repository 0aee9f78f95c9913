"""Long work in a thread: its result, its errors, its cancelling, and its end with the session."""

import gc
import threading

import pytest

from ppsets_core import background
from ppsets_core.background import Cancelled, Job, JobProgress
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


def test_work_that_nobody_watches_any_more_ends(monkeypatch):
    monkeypatch.setattr(background, "GRACE", 0.2)
    monkeypatch.setattr(background, "ASKED_EVERY", 0.01)
    with pytest.raises(Cancelled):
        Job(count_forever, lambda: False).result()


def test_work_that_is_watched_again_in_time_goes_on(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(background.time, "monotonic", lambda: now[0])
    watched = [True]
    report = JobProgress(lambda: watched[0])
    for second in range(200):
        now[0], watched[0] = second, second % 15 < 3  # away for 12 seconds at a time
        report(second, 200)
    watched[0] = False
    now[0] = 201
    report.check()
    now[0] = 230
    with pytest.raises(Cancelled):
        report.check()


def test_time_left_is_at_the_pace_so_far(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(background.time, "monotonic", lambda: now[0])
    report = JobProgress()
    assert report.seconds_left is None
    report(0, 50)
    assert report.seconds_left is None
    now[0] += 10
    report(5, 50)
    assert report.seconds_left == 90
    now[0] += 5
    report(1, 9)  # another stage, with a pace of its own
    assert report.seconds_left is None


def test_time_left_follows_the_pace_so_far(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(background.time, "monotonic", lambda: now[0])
    report = JobProgress()
    assert report.seconds_left is None
    report(10, 40)
    now[0] = 1.0
    report(11, 40)
    assert report.seconds_left is None  # a second tells nothing
    now[0] = 8.0
    report(20, 40)
    assert report.seconds_left == pytest.approx(8 / 10 * 20)
