"""Explore: every view is drawn and fits, the map leads to Calibrate, two ways agree, a long run can be cancelled."""

import re

from tests.browser import driving as ui

TRACES = "figures => figures.map(figure => figure.data.map(trace => trace.name).filter(Boolean))"
PLOTS = "[data-testid=stMain] .js-plotly-plot"


def drawn(page, count: int) -> list[list[str]]:
    """The named series of each figure, once so many figures are there."""
    page.locator(PLOTS).nth(count - 1).locator(".main-svg").first.wait_for()
    page.wait_for_function(f"document.querySelectorAll('{PLOTS}').length === {count}")
    return page.locator(PLOTS).evaluate_all(TRACES)


def test_a_click_on_the_map_takes_its_point_to_calibrate(app, page):
    ui.visit(page, app, "explore")
    ui.tab(page, "Trade-off map")
    (names,) = drawn(page, 1)
    assert names == ["click to take to Calibrate", "nothing can be promised"]
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
    assert page.get_by_role("slider", name=ui.ALPHA).get_attribute("aria-valuetext") in ("20%", "20.00%")
    assert page.get_by_role("slider", name=ui.EPSILON).get_attribute("aria-valuetext") == "0.5"


def test_planner_and_random_splits_agree_within_the_margins_that_both_show(app, page):
    ui.visit(page, app, "explore")
    rules = {"Sharp rule": "sharp rule", "Paper's rule": "paper's rule", "Without privacy": "without privacy"}
    planned = {name: sized(ui.metric(page.locator(".st-key-explore_expected"), name)) for name in rules}
    ui.tab(page, "Random splits")
    ui.press(page, "Run")
    drawn(page, 5)
    assert page.get_by_role("slider", name="Privacy loss ε").get_attribute("aria-valuetext") == "1"
    for name, label in rules.items():
        (size, margin), (mean, other) = planned[name], sized(ui.metric(page, f"Set size, {label}"))
        assert 0 < margin <= other < 0.1
        assert abs(size - mean) <= margin + other, name
    assert planned["Paper's rule"][0] - planned["Sharp rule"][0] > 0.1  # sizes that differ are told apart
    page.get_by_role("radio", name="Simulated", exact=True).click()
    ui.sees(page, re.compile("The last run was on other records"))
    ui.settle(page)
    assert page.locator(PLOTS).count() == 0


def sized(shown: str) -> tuple[float, float]:
    """A mean and its margin, of "1.29 ± 0.01"."""
    mean, margin = shown.split(" ± ")
    return float(mean), float(margin)


def test_a_long_run_shows_progress_and_can_be_cancelled(app, page):
    ui.visit(page, app, "explore")
    ui.tab(page, "Random splits")
    page.get_by_role("radio", name="records n", exact=True).click()
    ui.settle(page)
    ui.move_slider(page, "Random splits", 3)
    ui.button(page, "Run").press("Enter")
    ui.button(page, "Cancel").press("Enter")
    ui.sees(page, re.compile("Cancelled"))
    assert page.locator(PLOTS).count() == 0


def test_every_view_is_drawn_and_fits_a_narrow_window_and_nothing_is_spent(app, new_page):
    ledger = app.home / "ledger.sqlite"
    before = ledger.read_bytes() if ledger.exists() else b""
    page = new_page(400)
    ui.visit(page, app, "explore")
    for name in ("Planner", "Trade-off map", "By diagnosis", "Levels", "Random splits", "Inside a release"):
        ui.tab(page, name)
        if name != "Random splits":
            page.locator(PLOTS).first.locator(".main-svg").first.wait_for()
        assert ui.fits(page, 400), name
    ui.press(page, "Draw 50 times")
    ui.sees(page, "Drawn 50 times (simulated, not released)")
    assert (ledger.read_bytes() if ledger.exists() else b"") == before
