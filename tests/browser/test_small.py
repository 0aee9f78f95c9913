"""Small things that made people hesitate: plain numbers, weak budgets, an edited file, a chart in a narrow window."""

import json
import re

from tests.browser.driving import choose, go_to, press, sees, settle, upload, visit
from tests.browser.samples import score_file
from tests.browser.server import serve

HEIGHTS = """plot => {
    const {height, _size, legend} = plot._fullLayout;
    return {all: height, chart: _size.h, legend: legend._height};
}"""


def fill(page, label: str, number: str) -> None:
    box = page.get_by_role("spinbutton", name=label)
    box.fill(number)
    box.press("Enter")
    settle(page)


def test_numbers_are_plain_and_a_budget_that_protects_nobody_is_said_so(app, page):
    visit(page, app, "calibrate")
    choose(page, "A score file")
    upload(page, score_file("small-things.csv", 700, 21, patients=700))
    page.get_by_text("Advanced", exact=True).click()
    fill(page, "Exact ε", "5.3")
    sees(page, re.compile("may shift by a factor of 200"))
    fill(page, "Privacy budget of the data set", "1000")
    sees(page, re.compile("A budget of 1,000 protects almost nobody"))
    shown = page.get_by_test_id("stMain").inner_text()
    assert re.search(r"rank \d", shown)
    assert re.findall(r"rank [\d,]+\.\d|\de[+-]\d", shown) == []
    fill(page, "Privacy budget of the data set", "6")
    press(page, "Calibrate …")
    press(page, re.compile("^Spend ε = 5.3"))
    sees(page, "Your calibration")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download calibration (JSON)").click()
    edited = json.loads(download.value.path().read_text())
    edited["threshold"] = 1 / edited["m"]
    choose(page, "A saved calibration")
    upload(page, {"name": "edited.json", "mimeType": "application/json", "buffer": json.dumps(edited).encode()})
    sees(page, re.compile("it was changed since it was released"))
    go_to(page, "Ledger")
    page.get_by_text("Raise a budget").click()
    sees(page, "New budget")
    assert page.get_by_role("combobox", name="Data set to raise").input_value() == "small-things"


def test_the_ledgers_chart_is_mostly_chart_in_a_narrow_window(new_page, tmp_path):
    """In a ledger of its own: the more data sets, the more room their names take."""
    with serve(tmp_path) as app:
        page = new_page(400)
        visit(page, app)
        press(page, "Try the demo")
        visit(page, app, "ledger")
        page.locator(".js-plotly-plot .main-svg").first.wait_for()
        heights = page.locator(".js-plotly-plot").first.evaluate(HEIGHTS)
    assert heights["chart"] > heights["all"] / 2
    assert heights["legend"] < heights["chart"] / 2
