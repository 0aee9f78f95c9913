"""The running app in Chromium: one server with a ledger of its own, a fresh browser session for each test."""

import shutil
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from tests.browser.server import App, serve

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
collect_ignore = ["watched", "counted"]  # for servers under watch: each watches whoever imports it
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
AT_ONCE = """const play = Element.prototype.animate;
Element.prototype.animate = function (...how) {
    const played = play.apply(this, how);
    played.finish();
    return played;
};"""
"""Expanders open at once: on a busy machine a button in one could move between mouse down and mouse up, unclicked."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo) -> Generator[None, pytest.TestReport]:
    """A failed journey tells what its screens showed."""
    report = yield
    if report.when == "call" and report.failed and (contexts := item.funcargs.get("contexts")):
        for page in [page for context in contexts for page in context.pages]:
            report.sections.append((f"screen at {page.url}", page.locator("body").inner_text()))
    return report


@pytest.fixture(scope="session")
def app(chromium, tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    with serve(tmp_path_factory.mktemp("app")) as running:
        yield running


@pytest.fixture(scope="session")
def chromium():
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed, so the app cannot be driven in a browser.")
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed.")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def contexts():
    return []


@pytest.fixture
def new_page(chromium, contexts):
    """Opens browser sessions that know nothing of each other; in the end none of them may show a traceback."""

    def open_page(width: int = 1400, **options):
        contexts.append(chromium.new_context(viewport={"width": width, "height": 900}, **options))
        contexts[-1].add_init_script(AT_ONCE)
        page = contexts[-1].new_page()
        page.set_default_timeout(90_000)
        return page

    yield open_page
    shown = [page.locator("[data-testid=stException]").count() for context in contexts for page in context.pages]
    for context in contexts:
        context.close()
    assert not any(shown), "A screen showed a traceback."


@pytest.fixture
def page(new_page):
    return new_page()
