"""Reports in a browser: they ask for nothing, need no script, print on A4 and fit a narrow window."""

import re

import numpy as np

from ppsets_core import calibrate
from ppsets_core.places import ASSETS
from ppsets_core.reports.calibration import calibration_report
from ppsets_core.reports.sets import sets_report
from tests.diagnose.made import xray_sets

CLASSES = ("bacterial-pneumonia", "normal", "viral-pneumonia")


def reports() -> dict[str, str]:
    drawn = calibrate(np.linspace(0, 0.7, 2000), 0.1, 20.0)
    picture = (ASSETS / "synthetic_02_normal.png").read_bytes()
    facts = {"labels": [*CLASSES] * 4, "names": [f"{n}-{'long' * 40}.png" for n in range(12)]}
    sets = xray_sets([(0.5, 0.4, 0.1)] * 12, drawn, classes=CLASSES, thumbnails=[picture] * 12, **facts)
    return {"calibration": calibration_report(drawn), "batch": sets_report(sets)}


def test_reports_print_on_a4_without_script_or_request(new_page, tmp_path):
    page, narrow = new_page(java_script_enabled=False), new_page(400)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    for name, html in reports().items():
        path = tmp_path / f"{name}.html"
        path.write_text(html, encoding="utf-8")
        asked.clear()
        page.goto(path.as_uri())
        page.get_by_text("Not a medical device").wait_for()
        assert page.get_by_text("Did the promise hold here?").count() == (name == "batch")
        printed = page.pdf(prefer_css_page_size=True)
        boxes = re.findall(rb"/MediaBox \[([^\]]+)\]", printed)
        assert {tuple(round(float(x)) for x in box.split()) for box in boxes} == {(0, 0, 595, 842)}
        assert 2 <= len(re.findall(rb"/Type /Page\b", printed)) <= 6
        assert [url for url in asked if not url.startswith("data:")] == [path.as_uri()]
        narrow.goto(path.as_uri())
        assert narrow.evaluate("document.documentElement.scrollWidth") <= 400
