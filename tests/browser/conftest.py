"""The running app in Chromium: one server with a ledger of its own, a fresh browser session for each test."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.server import App, serve

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
collect_ignore = ["watched", "counted"]  # for servers under watch: each watches whoever imports it
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.browser)


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
def new_page(chromium):
    """Opens browser sessions that know nothing of each other; in the end none of them may show a traceback."""
    contexts = []

    def open_page(width: int = 1400, **options):
        contexts.append(chromium.new_context(viewport={"width": width, "height": 900}, **options))
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
