"""Small steps that every journey takes. Buttons are pressed by keyboard, so that a layout in motion cannot move them
from under a mouse."""

import re
from collections.abc import Callable
from pathlib import Path

from ppsets_core import Ledger

CARDS = "[class*=st-key-card-]"
ALPHA, EPSILON = "Allowed miss rate (α)", "Privacy loss (ε)"
GET_SETS = "Get prediction sets"
TRY_IT = re.compile("^Try it")
CHANGE = re.compile("X-rays? .*Change$")
SPEND = re.compile("^Spend ε")
LONG = 300_000  # milliseconds: on a busy machine
IDLE = """() => {
    const app = document.querySelector('[data-testid=stApp]');
    const idle = app && app.getAttribute('data-test-script-state') === 'notRunning';
    window.idleSince = idle ? (window.idleSince || Date.now()) : null;
    return window.idleSince && Date.now() - window.idleSince > 250;
}"""


def settle(page) -> None:
    """Wait until the screen is drawn and the script has had nothing to do for a moment."""
    page.locator("[data-testid=stMain] h1").first.wait_for()
    page.evaluate("window.idleSince = null")
    page.wait_for_function(IDLE, polling=50)


def sees(page, text: str | re.Pattern, **options) -> None:
    """Wait until the text is there to read."""
    page.get_by_text(text).first.wait_for(**options)


def visit(page, app, screen: str = "") -> None:
    page.goto(f"{app.url}/{screen}")
    settle(page)


def button(where, name: str | re.Pattern):
    return where.get_by_role("button", name=name, exact=isinstance(name, str), disabled=False)


def press(page, name: str | re.Pattern, within=None) -> None:
    button(within or page, name).press("Enter")
    settle(page)


def press_twice(page, name: str | re.Pattern) -> None:
    """A double click, with nothing in between."""
    button(page, name).evaluate("button => { button.click(); button.click(); }")


def choose(page, label: str) -> None:
    """Tick a radio button by the text beside it."""
    page.get_by_test_id("stRadio").get_by_text(label, exact=True).click()
    settle(page)


def tab(page, name: str) -> None:
    page.get_by_role("tab", name=name).press("Enter")
    settle(page)


def fill(where, label: str, value: str) -> None:
    """A box of a page, or of a part of it."""
    box = where.get_by_label(label, exact=True)
    box.fill(value)
    box.press("Enter")
    settle(getattr(where, "page", where))


def upload(page, *files, which: int = 0) -> None:
    """Give files (paths, or name, type and bytes as Playwright takes them) to one of the screen's uploaders."""
    page.get_by_test_id("stFileUploader").nth(which).locator("input[type=file]").set_input_files(list(files))
    page.wait_for_timeout(300)
    settle(page)


def go_to(page, screen: str) -> None:
    """By the sidebar, so that the browser session goes on."""
    page.get_by_test_id("stSidebarNav").get_by_role("link", name=screen).press("Enter")
    page.get_by_role("heading", name=screen, exact=True, level=1).wait_for()
    settle(page)


def demo(page, app) -> None:
    """Home's one click: this session has a calibration, and twelve X-rays with their sets."""
    visit(page, app)
    button(page, TRY_IT).press("Enter")
    page.locator(CARDS).nth(11).wait_for(timeout=LONG)
    settle(page)


def to_diagnose(page, app) -> None:
    """Diagnose with a calibration: the ledger's last, or the demo's where there is none yet."""
    visit(page, app, "diagnose")
    if button(page, TRY_IT).count():
        demo(page, app)


def get_sets(page, *files) -> None:
    """Upload X-rays in place of those shown, and wait for the sets."""
    if (change := button(page, CHANGE)).count():
        before = change.inner_text()
        change.press("Enter")
        page.get_by_test_id("stFileUploader").first.wait_for()
        upload(page, *files)
        page.wait_for_function(
            "before => [...document.querySelectorAll('button')].some("
            "one => one.innerText.includes('· Change') && one.innerText !== before)",
            arg=before,
            timeout=LONG,
        )
    else:
        upload(page, *files)
    page.locator(CARDS).first.wait_for(timeout=LONG)
    settle(page)


def first_card(page) -> dict[str, float]:
    """Where the first card lies in the window, not scrolled."""
    assert page.get_by_test_id("stMain").evaluate("main => main.scrollTop") == 0
    return page.locator(CARDS).first.bounding_box()


def look(page, nth: int = 0) -> None:
    """Open the viewer by a card's picture, which its name's button reaches over."""
    page.locator(CARDS).nth(nth).locator("[class*=st-key-look-] button").press("Enter")


def kinds(page) -> dict[str, int]:
    """How many sets there are of each kind, by the filter."""
    shown = page.get_by_role("radiogroup", name="Filter").get_by_role("radio").all_inner_texts()
    return {name: int(number) for name, number in (one.rsplit(" ", 1) for one in shown)}


def open_score_file(page, app, file: dict) -> None:
    visit(page, app, "calibrate")
    choose(page, "A score file")
    upload(page, file)


def calibrate(page) -> None:
    """Spend on what the Calibrate screen shows."""
    press(page, "Calibrate …")
    press(page, SPEND)
    sees(page, "Your calibration")
    settle(page)


def downloaded(page, name: str | re.Pattern) -> bytes:
    if not (found := page.get_by_role("button", name=name, disabled=False)).count():
        press(page, "Download")
        found.first.wait_for()
    with page.expect_download() as download:
        page.get_by_role("button", name=name, disabled=False).first.press("Enter")
    return Path(download.value.path()).read_bytes()


def metric(page, label: str, nth: int = 0) -> str:
    box = page.get_by_test_id("stMetric").filter(has_text=label).nth(nth)
    return box.get_by_test_id("stMetricValue").inner_text()


def move_slider(page, label: str | re.Pattern, steps: int) -> None:
    """With the arrow keys, as someone without a mouse does."""
    thumb = page.get_by_role("slider", name=label)
    thumb.focus()
    for _ in range(abs(steps)):
        thumb.press("ArrowRight" if steps > 0 else "ArrowLeft")
    settle(page)


def fits(page, width: int) -> bool:
    """Whether nothing runs over the edge of the window."""
    return page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= width


def ledger_of(app) -> Ledger:
    return Ledger(app.home / "ledger.sqlite")


def until(condition: Callable[[], bool], page, seconds: float = 60) -> None:
    """Wait for something that no screen shows."""
    for _ in range(int(4 * seconds)):
        if condition():
            return
        page.wait_for_timeout(250)
    raise AssertionError("It did not happen in time.")
