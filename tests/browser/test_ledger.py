"""Ledger: what was spent is there, can be exported and used again."""

import csv
import io
import json

import pytest

from tests.browser.driving import fits, go_to, press, sees, visit


@pytest.fixture
def demo(app, page):
    visit(page, app)
    press(page, "Try the demo")
    go_to(page, "Ledger")
    return page


def test_exports_hold_the_release(app, demo):
    with demo.expect_download() as download:
        demo.get_by_role("button", name="Export releases (CSV)").click()
    rows = list(csv.DictReader(io.StringIO(download.value.path().read_text())))
    assert any(row["dataset"] == "coronahack-demo" and row["status"] == "released" for row in rows)
    with demo.expect_download() as download:
        demo.get_by_role("button", name="Export everything (JSON)").click()
    document = json.loads(download.value.path().read_text())
    assert {"coronahack-demo"} <= {account["name"] for account in document["datasets"]}
    assert len(document["releases"]) == len(rows)


def test_every_column_of_the_releases_is_in_view(app, new_page):
    page = new_page(1280)
    visit(page, app)
    press(page, "Try the demo")
    go_to(page, "Ledger")
    releases = page.get_by_test_id("stDataFrame").nth(1)
    releases.locator(".dvn-scroller").wait_for()
    assert fits(releases)


def test_spending_is_drawn_and_a_release_can_be_used_again(app, demo, new_page):
    demo.locator(".js-plotly-plot .scatterlayer .trace").first.wait_for()
    other = new_page()
    visit(other, app, "ledger")
    sees(other.get_by_test_id("stSidebar"), "No calibration yet.")
    press(other, "Use this calibration")
    sees(other.get_by_test_id("stSidebar"), "Calibrated with")
    sees(other, "In use in this browser session.")
