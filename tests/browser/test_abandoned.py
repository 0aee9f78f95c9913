"""Long work that its browser left, by a reload or a closed tab, ends; what somebody watches goes on."""

import re
import time

import pytest

from ppsets_core.background import GRACE
from tests.browser.counting import serve_counted
from tests.browser.driving import sees, settle, visit

SOON = 20  # seconds on top of those for which a browser may be away


@pytest.fixture
def counted(chromium, tmp_path):
    with serve_counted(tmp_path) as told:
        yield told


def start_a_map(page, app) -> None:
    """A map that takes minutes: for each of twenty diagnoses, at 168 points."""
    visit(page, app, "explore")
    page.get_by_role("radio", name="Simulated", exact=True).click()
    settle(page)
    page.get_by_role("slider", name="Diagnoses").press("End")
    settle(page)
    page.get_by_role("tab", name="Trade-off map").click()
    page.get_by_role("button", name="Cancel").wait_for()
    page.get_by_test_id("stRadio").get_by_text("each diagnosis", exact=True).click()
    page.get_by_role("button", name="Cancel").wait_for()


def wait_for_jobs(alive, number: int, seconds: float) -> int:
    """How many there are, as soon as they are so many, or when the time is over."""
    end = time.monotonic() + seconds
    while (jobs := alive().jobs) != number and time.monotonic() < end:
        time.sleep(0.5)
    return jobs


def test_a_reload_and_a_closed_tab_end_their_work_and_nobody_elses(counted, new_page):
    app, alive = counted
    reloaded, closed, watched = new_page(), new_page(), new_page(400)
    for page in (reloaded, closed, watched):
        start_a_map(page, app)
    assert wait_for_jobs(alive, 3, SOON) == 3
    reloaded.reload()
    settle(reloaded)
    closed.close()
    assert wait_for_jobs(alive, 1, GRACE + SOON) == 1
    sees(watched, re.compile(r"Points planned: \d+ of 168, .* left"))
    watched.get_by_role("button", name="Cancel").click()
    sees(watched, re.compile("Cancelled"))
    assert wait_for_jobs(alive, 0, SOON) == 0
