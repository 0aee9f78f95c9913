"""The README's pictures, taken from the running app: `python -m tools.screenshots`. Needs Chromium.

Only synthetic X-rays and public scores are shown. The ledger is a temporary one.
"""

import io
import shutil
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from tests.browser.driving import demo, go_to, settle
from tests.browser.server import serve

OUT = Path(__file__).resolve().parents[1] / "docs" / "screenshots"
TALLEST = 1700
CARDS = "[class*=st-key-card-]"


def main() -> None:
    OUT.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, serve(Path(folder)) as app, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 1400, "height": 900}, color_scheme="light")
        page.set_default_timeout(120_000)
        demo(page, app)
        page.add_style_tag(content="[data-testid=stToast] { display: none }")
        go_to(page, "Calibrate")
        _take(page, "calibrate")
        go_to(page, "Diagnose")
        page.locator(CARDS).first.wait_for()
        _take(page, "diagnose")
        browser.close()


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
