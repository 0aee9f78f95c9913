"""What a person waits for, in the browser: `python -m benchmarks.app [calibrate] [explore] [diagnose]`, all if none is.

First the cold start: the server until it answers, then its first screen.
Calibrate, wanted below 0.3 s: from the key press that moves a slider to the changed plan on the screen, with the
bundled scores and with a file of 100,000 records. Also how long the screen takes to open, and the demo takes.
Explore: from the key press to the changed sets of What if, wanted below 0.3 s; the bundled map, wanted below 1 s, and
another map's first and complete picture, wanted below 1 and 3 s.
Diagnose: a table of 10,000 rows and 14 classes from its upload to its sets on the screen, wanted below 2 s; and turning
a page of 1,000 X-ray cards, in seconds and in bytes sent, against the same with 24.
"""

import io
import shutil
import statistics
import sys
import tempfile
import time
import zipfile
from pathlib import Path

from benchmarks.tables import table
from ppsets_core import calibrate, read_scores
from tests.browser.driving import CHANGE, TRY_IT, choose, go_to, press, settle, upload, visit
from tests.browser.samples import png
from tests.browser.server import serve
from tests.drawn_xrays import draw_xrays

MOVES = 24
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
WATCH = """selector => {
    const plans = () => [...document.querySelectorAll(selector)].map(one => one.innerText).join();
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

    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder, serve(Path(folder)) as app, sync_playwright() as driver:
        report("start of the server", [time.perf_counter() - began])
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
        page = browser.new_page(viewport={"width": 1400, "height": 1000})
        page.set_default_timeout(600_000)
        report("first screen of a new server", [_seconds(lambda: visit(page, app))])
        for part in sys.argv[1:] or PARTS:
            PARTS[part](page, app)
        browser.close()


def calibrating(page, app) -> None:
    visit(page, app)
    report("demo, click to threshold", [_seconds(lambda: _demo(page))])
    report("opening Calibrate", [_seconds(lambda: visit(page, app, "calibrate")) for _ in range(3)])
    for label in ("Privacy loss (ε)", "Allowed miss rate (α)"):
        report(f"{label.split(':')[0]} slider to plan, bundled scores", slider_moves(page, label))
    choose(page, "A score file")
    scores = "score\n" + "\n".join(f"{i / 100_000:.5f}" for i in range(100_000))
    upload(page, {"name": "large.csv", "mimeType": "text/csv", "buffer": scores.encode()})
    page.locator(".st-key-plan").wait_for()
    report("ε slider to plan, 100,000 records", slider_moves(page, "Privacy loss (ε)"))


def exploring(page, app) -> None:
    visit(page, app, "explore")
    for label in ("Privacy loss (ε)", "Allowed miss rate (α)", "Records (n)"):
        report(f"{label} slider to sets, What if", slider_moves(page, label, ".chances", 8))
    report("bundled map, click to picture", [_seconds(lambda: _open_map(page))])
    box = page.get_by_label("Records n", exact=True)
    for n in (700, 1300):
        box.fill(str(n))
        start = time.perf_counter()
        box.press("Enter")
        page.wait_for_function("document.querySelector('.js-plotly-plot')?._fullLayout.yaxis.tickvals.length === 5")
        first = time.perf_counter() - start
        page.wait_for_function("document.querySelector('.js-plotly-plot')?._fullLayout.yaxis.tickvals.length === 12")
        report(f"map of n = {n}, first picture", [first])
        report(f"map of n = {n}, complete", [time.perf_counter() - start])


def _open_map(page) -> None:
    page.get_by_role("tab", name="Trade-off map").press("Enter")
    page.locator(".js-plotly-plot .contourlayer").wait_for()


def diagnosing(page, app) -> None:
    received: list[bytes] = []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: received.append(frame)))
    visit(page, app, "calibrate")
    choose(page, "A saved calibration")
    calibration = calibrate(read_scores(table(3000, 0), "cal.csv"), 0.1, 4.0, per="diagnosis")
    upload(page, {"name": "cal.json", "mimeType": "application/json", "buffer": calibration.to_json().encode()})
    press(page, "Use this calibration")
    go_to(page, "Diagnose")
    taken = [_seconds(lambda given=_table(10_000 + more): _give(page, *given)) for more in range(4)]
    report("table of 10,000 x 14, first upload to sets", taken[:1])
    report("table of 10,000 x 14, further uploads", taken[1:])
    turned = {count: page_turns(page, app, count, received) for count in (24, 1000)}
    few, many = ([statistics.median(each) for each in zip(*turned[count], strict=True)] for count in (24, 1000))
    for what, a, b in zip(("seconds", "bytes received"), few, many, strict=True):
        print(f"{what} for a page turn of 1,000 cards and of 24: {b:.4g} and {a:.4g}, ratio {b / a:.2f}", flush=True)


def _table(rows: int) -> tuple[dict, int]:
    return {"name": f"new{rows}.csv", "mimeType": "text/csv", "buffer": table(rows, 1)}, rows


def _give(page, file: dict, rows: int) -> None:
    page.get_by_test_id("stFileUploader").first.locator("input[type=file]").set_input_files([file])
    page.get_by_test_id("stMetric").filter(has_text=f"{rows:,}").wait_for()
    page.get_by_test_id("stDataFrame").last.locator(".dvn-scroller").wait_for()


def page_turns(page, app, count: int, received: list[bytes]) -> list[tuple[float, int]]:
    """Seconds until the other page's cards are there, and what the server sent for them; to and fro."""
    pictures, out = [png("", xray.grey)["buffer"] for xray in draw_xrays(24, 0)], io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for number in range(count):
            archive.writestr(f"{number:04}.png", pictures[number % len(pictures)])
    visit(page, app)
    _demo(page)
    press(page, CHANGE)
    upload(page, {"name": "xrays.zip", "mimeType": "application/zip", "buffer": out.getvalue()})
    settle(page)
    if (start := page.get_by_role("button", name="Get prediction sets")).count():
        start.click()  # a large upload is not classified by itself
    page.get_by_text("0000.png").first.wait_for()
    settle(page)
    page.get_by_role("combobox", name="Order").click()
    page.get_by_role("option", name="as given").click()
    settle(page)
    turns = []
    for number in (2, 1) * 5:
        received.clear()
        button, first = page.get_by_role("button", name=f"Page {number}", exact=True), f"{12 * (number - 1):04}.png"
        taken = _seconds(lambda button=button, first=first: (button.click(), page.get_by_text(first).first.wait_for()))
        settle(page)
        turns.append((taken, sum(map(len, received))))
    return turns


def slider_moves(page, label: str, selector: str = ".st-key-plan", moves: int = MOVES) -> list[float]:
    """Seconds from each arrow key to the changed text there; the way there and back, so that both directions count."""
    thumb = page.get_by_role("slider", name=label)
    thumb.focus()
    seconds = []
    for move in range(moves):
        page.evaluate("window.pressed = window.redrawn = null")
        page.evaluate(WATCH, selector)
        thumb.press("ArrowRight" if move < moves / 2 else "ArrowLeft")
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
    press(page, TRY_IT)
    page.locator("[class*=st-key-card-]").first.wait_for()


def _seconds(work) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


PARTS = {"calibrate": calibrating, "explore": exploring, "diagnose": diagnosing}

if __name__ == "__main__":
    main()
