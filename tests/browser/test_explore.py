"""Explore: every view is drawn and fits, the map leads to Calibrate."""

import re

from tests.browser import driving as ui

PLOTS = "[data-testid=stMain] .js-plotly-plot"


def test_a_click_on_the_map_takes_its_point_to_calibrate(app, page):
    ui.visit(page, app, "explore")
    ui.tab(page, "Trade-off map")
    page.locator(PLOTS).first.locator(".main-svg").first.wait_for()
    page.locator(PLOTS).first.scroll_into_view_if_needed()
    place, point = page.locator(PLOTS).first.evaluate(
        """plot => {
            const trace = plot._fullData.find(trace => trace.name === 'click to take to Calibrate');
            const i = trace.customdata.findIndex(([alpha, epsilon]) => alpha === 0.2 && epsilon === 0.5);
            const box = plot.getBoundingClientRect(), {xaxis, yaxis} = plot._fullLayout;
            return [[box.x + xaxis._offset + xaxis.d2p(trace.x[i]), box.y + yaxis._offset + yaxis.d2p(trace.y[i])],
                trace.customdata[i]];
        }"""
    )
    assert point[:2] == [0.2, 0.5]
    assert 0.5 < point[2] < 3
    page.mouse.move(place[0] - 2, place[1] - 2)
    page.mouse.move(*place)
    page.get_by_text(re.compile("α = 20%")).first.wait_for()
    page.mouse.click(*place)
    page.get_by_role("heading", name="Calibrate", exact=True, level=1).wait_for()
    ui.settle(page)
    for name, value in ((ui.ALPHA, "20%"), (ui.EPSILON, "0.5")):
        page.get_by_role("slider", name=name).and_(page.locator(f'[aria-valuetext="{value}"]')).wait_for()


def test_every_view_is_drawn_and_fits_a_narrow_window_and_nothing_is_spent(app, new_page):
    ledger = app.home / "ledger.sqlite"
    before = ledger.read_bytes() if ledger.exists() else b""
    page = new_page(400)
    ui.visit(page, app, "explore")
    for name in ("What if", "Planner", "Trade-off map", "By diagnosis", "For statisticians"):
        ui.tab(page, name)
        page.locator(PLOTS).first.locator(".main-svg").first.wait_for()
        assert ui.fits(page, 400), name
    page.get_by_role("radio", name="Inside a release").press("Enter")
    ui.settle(page)
    page.locator(PLOTS).first.locator(".main-svg").first.wait_for()
    assert ui.fits(page, 400)
    ui.press(page, "Draw 50 times")
    ui.sees(page, "Drawn 50 times (simulated, not released)")
    assert (ledger.read_bytes() if ledger.exists() else b"") == before
