"""Ten sessions at once: each sees its own, every charge counts; sessions and work left behind are let go."""

import re
import time
from collections.abc import Callable, Iterator

import pytest

from ppsets_core.progress import GRACE
from tests.browser import driving as ui
from tests.browser.samples import score_file, xray_pngs, zip_file
from tests.browser.server import Alive, App, serve, serve_counted

SESSIONS, SHARED, A_PAGE = 10, "shared ward", 12
KEPT, ONE, LEFT, ROOM = 4, 4, 5, 1.5  # seconds, uploads in one session, sessions left behind, megabytes
LONG = 180_000  # milliseconds: with ten at once on two cores each waits for the others


def xrays(session: int, count: int) -> dict:
    """A zip of this many synthetic X-rays, named after the session."""
    files = {f"of-{session}-no-{number:02}.png": file["buffer"] for number, file in enumerate(xray_pngs(count, 0))}
    return zip_file(f"xrays-of-{session}.zip", files)


def name_of(session: int) -> str:
    """Two sessions bring files of one name, and so share an account."""
    return SHARED if session in (3, 8) else f"ward-{session}"


def calibrating(page, app: App, session: int) -> Iterator[None]:
    """Own scores to an own threshold; each yield lets the others go on meanwhile."""
    records = 700 + 10 * session
    ui.go_to(page, "Calibrate")
    ui.choose(page, "A score file")
    ui.upload(page, score_file(f"{name_of(session)}.csv", records, session))
    yield
    ui.sees(page, re.compile(rf"^{records:,} records · {records:,} used"))
    if page.get_by_label("Privacy budget of the data set", exact=True).count():
        ui.fill(page, "Privacy budget of the data set", "5")
    ui.press(page, "Calibrate …")
    yield
    ui.button(page, ui.SPEND).press("Enter")
    yield
    page.get_by_text("Your calibration").wait_for(timeout=LONG)
    ui.settle(page)
    (release,) = [r for r in ui.ledger_of(app).releases(name_of(session)) if r.calibration.n == records]
    assert ui.metric(page, "Threshold") == f"{release.calibration.threshold:.6g}"
    page.get_by_test_id("stSidebar").get_by_text(f"Calibrated with {name_of(session)}").wait_for()


def classifying(page, session: int, count: int) -> Iterator[None]:
    """Own X-rays to own cards, under whatever calibration the session has."""
    ui.go_to(page, "Diagnose")
    if (change := ui.button(page, ui.CHANGE)).count():
        change.press("Enter")
        page.get_by_test_id("stFileUploader").first.wait_for()
    ui.upload(page, xrays(session, count))
    yield
    page.locator(ui.CARDS).filter(has_text=f"of-{session}-no-00.png").wait_for(timeout=LONG)
    ui.settle(page)
    assert ui.kinds(page)["All"] == count
    names = re.findall(r"of-\d+-no-\d+\.png", page.get_by_test_id("stMain").inner_text())
    assert set(names) == {f"of-{session}-no-{number:02}.png" for number in range(min(count, A_PAGE))}


def journey(page, app: App, session: int) -> Iterator[None]:
    """Even sessions calibrate while odd ones try the demo; then all classify. The third charges what the eighth did."""
    ui.visit(page, app)
    if session % 2:
        ui.button(page, ui.TRY_IT).press("Enter")
        yield
        page.locator(ui.CARDS).first.wait_for(timeout=LONG)
        ui.settle(page)
    else:
        yield from calibrating(page, app, session)
    yield from classifying(page, session, 3 + session)
    if session == 3:
        yield from calibrating(page, app, session)
    assert page.get_by_test_id("stAlertContentError").count() == 0


def test_ten_sessions_calibrate_and_classify_at_once(tmp_path, new_page):
    pages = [new_page() for _ in range(SESSIONS)]
    for page in pages:
        page.set_default_timeout(LONG)
    with serve(tmp_path) as own_app:
        going = [journey(page, own_app, session) for session, page in enumerate(pages)]
        while going:
            going = [each for each in going if next(each, "ended") is None]
    ledger = ui.ledger_of(own_app)
    spent = {account.name: account.spent for account in ledger.accounts()}
    assert spent == {"ward-0": 1, "ward-2": 1, "ward-4": 1, "ward-6": 1, SHARED: 2, "coronahack-demo": 1}
    assert [release.calibration is None for release in ledger.releases()] == [False] * 7
    assert [line for line in own_app.log.read_text().splitlines() if re.search("Traceback|Error in ", line)] == []


@pytest.fixture(scope="module")
def counted(chromium, tmp_path_factory) -> Iterator[tuple[App, Callable[[], Alive]]]:
    """The app, which forgets sessions soon after they were left behind, and a way to ask what is alive in it."""
    folder = tmp_path_factory.mktemp("counted")
    with serve_counted(folder, STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL=str(KEPT)) as told:
        yield told


def test_sessions_left_behind_are_let_go(counted, new_page):
    """One session classifies four times, five more once each and are left behind: in the end only the last is alive.

    One of them holds about 1.7 MB (its zip, small pictures, the state of its widgets): the bound is below what keeping
    a single one would add."""
    app, alive = counted
    page = calibrated_page(app, new_page)
    seen = []
    for turn in range(ONE + LEFT):
        if turn >= ONE:
            page.context.close()
            page = calibrated_page(app, new_page)
        for _ in classifying(page, turn, 20):
            pass
        seen.append(alive())
    while seen[-1].sessions > 1 and len(seen) < 60:
        time.sleep(KEPT / 4)
        seen.append(alive())
    print("Alive after each 20 X-rays:", seen)
    first, again, end = seen[1].megabytes, seen[ONE - 1].megabytes, seen[-1].megabytes
    assert seen[-1].sessions == 1
    assert again - first < ROOM
    assert end - again < ROOM


def calibrated_page(app: App, new_page):
    page = new_page()
    page.set_default_timeout(LONG)
    ui.to_diagnose(page, app)
    return page


def start_a_map(page) -> None:
    """For each of twenty diagnoses, at 168 points: it takes minutes."""
    page.get_by_role("tab", name="Trade-off map").press("Enter")
    ui.button(page, "Cancel").wait_for()
    page.get_by_test_id("stRadio").get_by_text("each diagnosis", exact=True).click()
    ui.button(page, "Cancel").wait_for()


def test_a_reload_ends_its_work_and_nobody_elses(counted, new_page):
    app, alive = counted
    reloaded, watched = new_page(), new_page(400)
    for page in (reloaded, watched):
        ui.visit(page, app, "explore")
        ui.tab(page, "Planner")
        page.get_by_role("radio", name="Simulated", exact=True).click()
        ui.settle(page)
        page.get_by_role("slider", name="Diagnoses").press("End")
        ui.settle(page)
    for page in (reloaded, watched):
        start_a_map(page)
    ui.until(lambda: alive().jobs == 2, watched)
    reloaded.reload()
    ui.until(lambda: alive().jobs == 1, watched, GRACE + 60)
    ui.sees(watched, re.compile(r"Points planned: \d+ of 168, .* left"))
    ui.button(watched, "Cancel").press("Enter")
    ui.sees(watched, re.compile("Cancelled"))
    ui.until(lambda: alive().jobs == 0, watched)
