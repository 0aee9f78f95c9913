"""Looking closely in the browser: full resolution, window and level, zoom, the queue by keyboard, review marks."""

import csv
import json
import re

import numpy as np

from tests.browser import driving as ui
from tests.browser.samples import png
from tests.xrays.samples import dicom

FIND = """() => {
    const roots = [...document.querySelectorAll('*')].map(e => e.shadowRoot).filter(Boolean);
    const viewer = roots.map(root => root.querySelector('.viewer')).find(Boolean);
    return viewer ? JSON.stringify({...viewer.dataset}) : '{}';
}"""
MIDDLE = """() => {
    const roots = [...document.querySelectorAll('*')].map(e => e.shadowRoot).filter(Boolean);
    const canvas = roots.map(root => root.querySelector('canvas')).find(Boolean);
    return canvas.getContext('2d').getImageData(canvas.width / 2, canvas.height / 2, 1, 1).data[0];
}"""


def chest(rows: int, columns: int, darkest: int, brightest: int) -> np.ndarray:
    """A picture of a given size whose greys go from side to side."""
    return np.linspace(darkest, brightest, columns).round().astype(np.uint16) * np.ones((rows, 1), np.uint16)


def look(page, app, *files) -> None:
    ui.to_diagnose(page, app)
    ui.get_sets(page, *files)
    ui.look(page)
    page.get_by_role("img", name=re.compile("pixels")).wait_for()
    ui.settle(page)


def state(page) -> dict[str, float]:
    page.wait_for_timeout(150)  # the next frame
    return {name: float(value) for name, value in json.loads(page.evaluate(FIND)).items()}


def test_full_resolution_zoom_queue_and_marks(app, new_page):
    page = new_page(1280)
    large = png("large.png", chest(1200, 1500, 0, 255) / 255)
    scan = dicom(chest(400, 500, 0, 4095), bits=12, WindowCenter=1000, WindowWidth=500)
    files = [large, {"name": "scan.dcm", "mimeType": "application/dicom", "buffer": scan}]
    look(page, app, *files)
    page.get_by_role("img", name="X-ray, 1500 by 1200 pixels").wait_for()
    fitted = state(page)
    assert (fitted["centre"], fitted["width"]) == (128, 256)
    page.keyboard.press("1")
    assert state(page)["zoom"] == 100
    page.get_by_role("button", name="Zoom in").press("Enter")
    assert state(page)["zoom"] == 125
    page.get_by_role("img", name=re.compile("pixels")).hover()
    page.mouse.down()
    page.mouse.move(400, 300)
    page.mouse.up()
    moved = state(page)
    assert (moved["left"], moved["top"]) != (fitted["left"], fitted["top"])
    page.keyboard.press("0")
    assert state(page)["zoom"] == fitted["zoom"]
    before = page.evaluate(MIDDLE)
    page.get_by_role("slider", name="Brightness").fill("40")
    assert state(page)["centre"] < 128
    assert page.evaluate(MIDDLE) > before
    page.keyboard.press("ArrowRight")  # a slider's own key: it stays with the slider
    page.get_by_role("button", name="Reset").press("Enter")
    page.keyboard.press("ArrowRight")
    page.get_by_role("img", name="X-ray, 500 by 400 pixels").wait_for()
    windowed = state(page)
    assert (windowed["centre"], windowed["width"]) == (1000, 500)
    assert page.evaluate(MIDDLE) == 255  # the middle's 2048 is above the window
    page.get_by_role("slider", name="Level").fill("2048")
    page.wait_for_timeout(200)
    assert 100 < page.evaluate(MIDDLE) < 160
    page.get_by_role("dialog").get_by_text("Another diagnosis", exact=True).click()
    ui.settle(page)
    page.get_by_role("dialog").get_by_label("Note").fill("rotated")
    page.get_by_role("dialog").get_by_label("Note").press("ArrowLeft")  # moves the cursor, not the queue
    page.get_by_role("dialog").get_by_label("Note").press("Control+Enter")
    ui.settle(page)
    page.set_viewport_size({"width": 400, "height": 900})
    page.wait_for_function("document.querySelector('[role=dialog]').scrollWidth <= 400")
    page.get_by_role("button", name="Previous X-ray").press("Enter")
    page.get_by_role("img", name="X-ray, 1500 by 1200 pixels").wait_for()
    ui.settle(page)
    ui.press(page, "Close", within=page.get_by_role("dialog"))
    page.locator(ui.CARDS).nth(1).get_by_text("Another diagnosis").wait_for()
    assert ui.fits(page, 400)
    page.set_viewport_size({"width": 1280, "height": 900})
    page.get_by_role("radio", name="Table").press("Enter")
    grid = page.get_by_test_id("stDataFrame").last.locator(".dvn-scroller")
    grid.wait_for()
    assert grid.evaluate("grid => grid.scrollWidth <= grid.clientWidth + 1"), "every column is shown"
    rows = list(csv.DictReader(ui.downloaded(page, "All sets (CSV)").decode().splitlines()))
    assert [row["review"] for row in rows] == ["", "Another diagnosis"]
    assert [row["reviewer's note"] for row in rows] == ["", "rotated"]
