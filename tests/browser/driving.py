"""Small steps that every journey takes."""

import re

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


def sees(page, text: str | re.Pattern) -> None:
    """Wait until the text is there to read."""
    page.get_by_text(text).first.wait_for()


def lacks(locator) -> None:
    """Wait until nothing of this is there."""
    locator.first.wait_for(state="detached")


def visit(page, app, screen: str = "") -> None:
    page.goto(f"{app.url}/{screen}")
    settle(page)


def press(page, name: str | re.Pattern) -> None:
    page.get_by_role("button", name=name, exact=isinstance(name, str)).click()
    settle(page)


def choose(page, label: str) -> None:
    """Tick a radio button by the text beside it."""
    page.get_by_test_id("stRadio").get_by_text(label, exact=True).click()
    settle(page)


def upload(page, *files, which: int = 0) -> None:
    """Give files (paths, or name, type and bytes as Playwright takes them) to one of the screen's uploaders."""
    page.get_by_test_id("stFileUploader").nth(which).locator("input[type=file]").set_input_files(list(files))
    page.wait_for_timeout(300)
    settle(page)


def go_to(page, screen: str) -> None:
    """By the sidebar, so that the browser session goes on."""
    page.get_by_test_id("stSidebarNav").get_by_role("link", name=screen).click()
    page.get_by_role("heading", name=screen, exact=True, level=1).wait_for()
    settle(page)


def metric(page, label: str, nth: int = 0) -> str:
    box = page.get_by_test_id("stMetric").filter(has_text=label).nth(nth)
    return box.get_by_test_id("stMetricValue").inner_text()


def move_slider(page, label: str, steps: int) -> None:
    """With the arrow keys, as someone without a mouse does."""
    thumb = page.get_by_role("slider", name=label)
    thumb.focus()
    for _ in range(abs(steps)):
        thumb.press("ArrowRight" if steps > 0 else "ArrowLeft")
    settle(page)


def fits(table) -> bool:
    """Whether all columns of a table are in view, without scrolling sideways."""
    return table.locator(".dvn-scroller").evaluate("grid => grid.scrollWidth <= grid.clientWidth + 1")
