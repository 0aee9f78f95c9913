"""Ten browser sessions at once on one server: each sees its own, every charge is counted, memory stays bounded."""

import io
import re
import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from ppsets_core import Ledger
from ppsets_core.synthetic import draw_xrays
from tests.browser.driving import choose, go_to, metric, press, settle, upload, visit
from tests.browser.pictures import png
from tests.browser.samples import score_file
from tests.browser.server import App, serve

SESSIONS, SHARED, A_PAGE = 10, "shared ward", 12
CARDS = "[class*=st-key-card-]"
LONG = 180_000  # milliseconds: with ten at once on two cores each waits for the others


@pytest.fixture
def own_app(chromium, tmp_path) -> Iterator[App]:
    with serve(tmp_path) as running:
        yield running


@cache
def drawn(number: int) -> bytes:
    return png("", draw_xrays(1, number)[0].grey)["buffer"]


def xrays(session: int, count: int) -> dict:
    """A zip of this many synthetic X-rays, named after the session."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for number in range(count):
            archive.writestr(f"of-{session}-no-{number:02}.png", drawn(number))
    return {"name": f"xrays-of-{session}.zip", "mimeType": "application/zip", "buffer": out.getvalue()}


def name_of(session: int) -> str:
    """Two sessions bring files of one name, and so share an account."""
    return SHARED if session in (3, 8) else f"ward-{session}"


def calibrating(page, app: App, session: int) -> Iterator[None]:
    """Own scores to an own threshold; each yield lets the others go on meanwhile."""
    records = 700 + 10 * session
    go_to(page, "Calibrate")
    choose(page, "A score file")
    upload(page, score_file(f"{name_of(session)}.csv", records, session))
    yield
    assert metric(page, "Records read") == f"{records:,}"
    budget = page.get_by_role("spinbutton", name="Privacy budget of the data set")
    if budget.count():
        budget.fill("5")
        budget.press("Enter")
    settle(page)
    press(page, "Calibrate …")
    yield
    page.get_by_role("button", name=re.compile("^Spend ε")).click()
    yield
    page.get_by_text("Your calibration").wait_for(timeout=LONG)
    settle(page)
    (release,) = [r for r in ledger_of(app).releases(name_of(session)) if r.calibration.n == records]
    assert metric(page, "Threshold") == f"{release.calibration.threshold:.6g}"
    page.get_by_test_id("stSidebar").get_by_text(f"Calibrated with {name_of(session)}").wait_for()


def classifying(page, session: int, count: int) -> Iterator[None]:
    """Own X-rays to own cards, under whatever calibration the session has."""
    go_to(page, "Diagnose")
    upload(page, xrays(session, count))
    page.get_by_role("button", name=re.compile("Find their prediction sets")).click()
    yield
    page.locator(CARDS).filter(has_text=f"of-{session}-no-00.png").wait_for(timeout=LONG)
    settle(page)
    assert sum(int(metric(page, kind)) for kind in ("One diagnosis", "Several", "None", "Not a chest X-ray")) == count
    names = re.findall(r"of-\d+-no-\d+\.png", page.get_by_test_id("stMain").inner_text())
    assert set(names) == {f"of-{session}-no-{number:02}.png" for number in range(min(count, A_PAGE))}


def journey(page, app: App, session: int) -> Iterator[None]:
    """Even sessions calibrate while odd ones classify with the demo's threshold; then the other way round."""
    visit(page, app)
    if session % 2:
        page.get_by_role("button", name="Try the demo").click()
        yield
        page.get_by_text("Active calibration:").wait_for(timeout=LONG)
        settle(page)
        yield from classifying(page, session, 3 + session)
        yield from calibrating(page, app, session)
    else:
        yield from calibrating(page, app, session)
        yield from classifying(page, session, 3 + session)
    assert page.get_by_test_id("stAlertContentError").count() == 0


def ledger_of(app: App) -> Ledger:
    return Ledger(app.home / "ledger.sqlite")


def test_ten_sessions_calibrate_and_classify_at_once(own_app, new_page):
    pages = [new_page() for _ in range(SESSIONS)]
    going = [journey(page, own_app, session) for session, page in enumerate(pages)]
    for page in pages:
        page.set_default_timeout(LONG)
    while going:
        going = [each for each in going if next(each, "ended") is None]
    ledger = ledger_of(own_app)
    spent = {account.name: account.spent for account in ledger.accounts()}
    alone = {name_of(session): 1 for session in range(SESSIONS) if name_of(session) != SHARED}
    assert spent == {**alone, SHARED: 2, "coronahack-demo": 1}
    assert len(ledger.releases()) == sum(spent.values())
    assert all(release.calibration is not None for release in ledger.releases())
    assert [line for line in own_app.log.read_text().splitlines() if re.search("Traceback|Error in ", line)] == []


def resident_megabytes(app: App) -> float:
    status = Path(f"/proc/{app.process.pid}/status")
    if not status.exists():
        pytest.skip("The memory of a process is read from /proc.")
    return int(re.search(r"VmRSS:\s+(\d+)", status.read_text())[1]) / 1024


@pytest.mark.xfail(
    reason="A session left behind keeps about 20 MB more than it did; the cause is not found yet.", strict=False
)
def test_memory_over_200_classifications(own_app, new_page):
    """10 uploads of 20 X-rays after a warm-up, half of them in one session and half in sessions that are left behind.

    A batch in the network takes some 35 MB for a moment, so the lesser of two measures is compared. What is kept of an
    upload is about 1 MB: the bound is far below the 100 × 3 MB that keeping a hundred pictures would add.
    """
    page = demo_page(own_app, new_page)
    seen = []
    for turn in range(13):
        if turn > 7:
            page.context.close()
            page = demo_page(own_app, new_page)
        elif turn:
            page.get_by_role("button", name=re.compile("^Remove xrays-of")).click()
            settle(page)
        for _ in classifying(page, turn, 20):
            pass
        seen.append(resident_megabytes(own_app))
    print("Resident MB after each 20 X-rays:", [round(value) for value in seen])
    warm, middle, end = min(seen[1:3]), min(seen[6:8]), min(seen[11:])
    assert middle - warm < 60
    assert end - middle < 60


def demo_page(app: App, new_page):
    page = new_page()
    visit(page, app)
    press(page, "Try the demo")
    return page
