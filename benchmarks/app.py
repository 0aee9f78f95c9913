"""How long a slider move takes to redraw the plan, in the browser: `python -m benchmarks.app`. Wanted: below 0.3 s.

From the key press that moves the slider to the changed plan on the screen, once with the bundled scores and once with a
score file of 100,000 records. Also how long the Calibrate screen takes to open, and the demo from click to threshold.
"""

import shutil
import statistics
import tempfile
import time
from pathlib import Path

from tests.browser.driving import choose, press, settle, upload, visit
from tests.browser.server import serve

MOVES = 24
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
WATCH = """() => {
    const plans = () => [...document.querySelectorAll('[class*=st-key-plan_]')].map(plan => plan.innerText).join();
    const before = plans();
    document.addEventListener('keydown', () => { window.pressed = performance.now(); window.redrawn = null; },
        {capture: true, once: true});
    new MutationObserver((_, watcher) => {
        if (window.pressed && !window.redrawn && plans() !== before) {
            window.redrawn = performance.now();
            watcher.disconnect();
        }
    }).observe(document.body, {subtree: true, childList: true, characterData: true});
}"""


def main() -> None:
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, serve(Path(folder)) as app, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
        page = browser.new_page(viewport={"width": 1400, "height": 1000})
        visit(page, app)
        report("demo, click to threshold", [_seconds(lambda: _demo(page))])
        report("opening Calibrate", [_seconds(lambda: visit(page, app, "calibrate")) for _ in range(3)])
        for label in ("ε: privacy loss", "α: the true diagnosis may be missing in"):
            report(f"{label.split(':')[0]} slider to plan, bundled scores", slider_moves(page, label))
        choose(page, "A score file")
        scores = "score\n" + "\n".join(f"{i / 100_000:.5f}" for i in range(100_000))
        upload(page, {"name": "large.csv", "mimeType": "text/csv", "buffer": scores.encode()})
        page.locator(".st-key-plan_paper").wait_for()
        report("ε slider to plan, 100,000 records", slider_moves(page, "ε: privacy loss"))
        browser.close()


def slider_moves(page, label: str) -> list[float]:
    """Seconds from each arrow key to the changed plan; the way there and back, so that both directions count."""
    thumb = page.get_by_role("slider", name=label)
    thumb.focus()
    seconds = []
    for move in range(MOVES):
        page.evaluate("window.pressed = window.redrawn = null")
        page.evaluate(WATCH)
        thumb.press("ArrowRight" if move < MOVES / 2 else "ArrowLeft")
        page.wait_for_function("window.redrawn")
        seconds.append(page.evaluate("(window.redrawn - window.pressed) / 1000"))
        settle(page)
    return seconds


def report(what: str, seconds: list[float]) -> None:
    print(
        f"{what:<45} median {statistics.median(seconds):.3f} s, "
        f"90% below {sorted(seconds)[int(0.9 * (len(seconds) - 1))]:.3f} s, most {max(seconds):.3f} s "
        f"({len(seconds)} times)",
        flush=True,
    )


def _demo(page) -> None:
    press(page, "Try the demo")
    page.get_by_test_id("stMetric").first.wait_for()


def _seconds(work) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
