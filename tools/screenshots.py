"""Screenshots of every screen, taken from the running app: `python -m tools.screenshots`. Needs Chromium.

Only synthetic X-rays and public scores are shown. The ledger is a temporary one.
"""

import io
import shutil
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from tests.browser.driving import press, settle, visit
from tests.browser.server import App, serve

ROOT = Path(__file__).resolve().parents[1]


OUT = ROOT / "docs" / "screenshots"
TALLEST = 1700
CARDS = "[class*=st-key-card-]"


def main() -> None:
    OUT.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, serve(Path(folder)) as app, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        for width, scheme, walk in ((1400, "light", _wide), (1400, "dark", _dark), (400, "light", _narrow)):
            page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
            page.set_default_timeout(120_000)
            walk(page, app)
            page.close()
        browser.close()


def _wide(page: Page, app: App) -> None:
    _calibrated(page, app)
    _take(page, "home")
    _go(page, "Calibrate")
    _take(page, "calibrate")
    _diagnosed(page)
    _take(page, "diagnose")
    _go(page, "Explore")
    _take(page, "explore-planner")
    _tab(page, "Levels", 2)
    _take(page, "explore-levels")
    _tab(page, "Random splits")
    press(page, "Run")
    _drawn(page, 5)
    _take(page, "explore-splits")
    _tab(page, "Inside a release", 1)
    press(page, "Draw 50 times")
    _take(page, "explore-release")
    _go(page, "Model")
    _drawn(page, 2)
    _take(page, "model")
    _tab(page, "Fine-tune")
    _take(page, "model-fine-tune")
    _go(page, "Ledger")
    _take(page, "ledger")


def _dark(page: Page, app: App) -> None:
    _calibrated(page, app)
    _diagnosed(page)
    _take(page, "diagnose-dark")


def _narrow(page: Page, app: App) -> None:
    _calibrated(page, app)
    _take(page, "home-narrow")
    _diagnosed(page)
    _take(page, "diagnose-narrow")


def _calibrated(page: Page, app: App) -> None:
    visit(page, app)
    press(page, "Try the demo")


def _diagnosed(page: Page) -> None:
    _go(page, "Diagnose")
    press(page, "Use the synthetic X-rays")
    page.locator(CARDS).first.wait_for()
    _drawn(page, page.locator(CARDS).count())
    settle(page)


def _go(page: Page, screen: str) -> None:
    """By the sidebar, which a narrow window folds away, and folds away again."""
    if page.viewport_size["width"] < 800:
        page.get_by_test_id("stExpandSidebarButton").click()
    page.get_by_test_id("stSidebarNav").get_by_role("link", name=screen).click()
    page.get_by_role("heading", name=screen, exact=True, level=1).wait_for()
    settle(page)


def _tab(page: Page, name: str, figures: int = 0) -> None:
    page.get_by_role("tab", name=name).click()
    settle(page)
    _drawn(page, figures)


def _drawn(page: Page, figures: int) -> None:
    page.wait_for_function(f"document.querySelectorAll('.js-plotly-plot .main-svg').length >= {figures}")
    settle(page)


def _take(page: Page, name: str) -> None:
    """The whole screen, up to a height that a page of documentation can bear."""
    size = page.viewport_size
    height = page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight")
    page.set_viewport_size({"width": size["width"], "height": max(600, min(height, TALLEST))})
    page.mouse.move(0, 0)
    page.evaluate("document.querySelector('[data-testid=stMain]').scrollTo(0, 0)")
    page.evaluate("document.activeElement?.blur()")
    page.wait_for_timeout(1000)
    settle(page)
    Image.open(io.BytesIO(page.screenshot())).convert("RGB").save(OUT / f"{name}.png", optimize=True)
    page.set_viewport_size(size)
    print(name)


if __name__ == "__main__":
    main()
