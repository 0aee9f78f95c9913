"""Long work that its browser left by a reload ends; what somebody watches goes on."""

import re
import time

import pytest

from ppsets_core.background import GRACE
from tests.browser.counting import serve_counted
from tests.browser.driving import sees, settle, visit

SOON = 60  # seconds on top of those for which a browser may be away; on a busy machine a point of the map takes some


@pytest.fixture
def counted(chromium, tmp_path):
    with serve_counted(tmp_path) as told:
        yield told


def explore(page, app) -> None:
    """Made-up records of as many diagnoses as there can be."""
    visit(page, app, "explore")
    page.get_by_role("radio", name="Simulated", exact=True).click()
    settle(page)
    page.get_by_role("slider", name="Diagnoses").press("End")
    settle(page)


def start_a_map(page) -> None:
    """For each of twenty diagnoses, at 168 points: it takes minutes."""
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


def test_a_reload_ends_its_work_and_nobody_elses(counted, new_page):
    app, alive = counted
    reloaded, watched = new_page(), new_page(400)
    for page in (reloaded, watched):
        explore(page, app)
    for page in (reloaded, watched):
        start_a_map(page)
    assert wait_for_jobs(alive, 2, SOON) == 2
    reloaded.reload()
    assert wait_for_jobs(alive, 1, GRACE + SOON) == 1
    sees(watched, re.compile(r"Points planned: \d+ of 168, .* left"))
    watched.get_by_role("button", name="Cancel").press("Enter")
    sees(watched, re.compile("Cancelled"))
    assert wait_for_jobs(alive, 0, SOON) == 0
