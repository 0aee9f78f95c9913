"""Every view of Explore is drawn in the browser, long runs can be cancelled, nothing is spent."""

import csv
import re

import pytest

from tests.browser.driving import metric, move_slider, press, sees, settle, upload, visit
from tests.browser.samples import score_file

TRACES = "figures => figures.map(figure => figure.data.map(trace => trace.name).filter(Boolean))"
PLOTS = "[data-testid=stMain] .js-plotly-plot"


def drawn(page, count: int) -> list[list[str]]:
    """The named series of each figure, once so many figures are there."""
    page.locator(PLOTS).nth(count - 1).locator(".main-svg").first.wait_for()
    page.wait_for_function(f"document.querySelectorAll('{PLOTS}').length === {count}")
    return page.locator(PLOTS).evaluate_all(TRACES)


def view(page, name: str) -> None:
    page.get_by_role("tab", name=name).click()
    settle(page)


def test_planner_follows_the_slider(app, page):
    visit(page, app, "explore")
    sees(page, "How many records for ε = 1?")
    assert drawn(page, 1) == [["sharp rule", "paper's rule"]]
    move_slider(page, "Privacy loss (ε)", 1)
    sees(page, "How many records for ε = 1.1?")
    with page.expect_download() as numbers:
        page.get_by_role("button", name="Numbers (CSV)").click()
    rows = list(csv.DictReader(numbers.value.path().read_text(encoding="utf-8").splitlines()))
    assert {"sharp rule", "paper's rule"} <= {value for row in rows for value in row.values()}
    with page.expect_download() as figures:
        page.get_by_role("button", name="Figures (HTML)").click()
    assert "Records needed at every ε" in figures.value.path().read_text(encoding="utf-8")


def test_levels(app, page):
    visit(page, app, "explore")
    view(page, "Levels")
    over_n, over_epsilon = drawn(page, 2)
    assert over_n == [f"{m}, ε = {e}" for m in ("sharp", "paper") for e in ("0.1", "1", "10")] + ["without privacy"]
    assert "sharp, n = 10,000" in over_epsilon
    sees(page, re.compile("a line can dip there"))


def test_a_click_on_the_map_takes_its_point_to_calibrate(app, page):
    visit(page, app, "explore")
    view(page, "Trade-off map")
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
    settle(page)
    assert page.get_by_role("slider", name="α: the true diagnosis").get_attribute("aria-valuetext") in ("20%", "20.00%")
    assert page.get_by_role("slider", name="Privacy loss (ε)").get_attribute("aria-valuetext") == "0.5"


def test_the_map_of_another_rule_is_drawn_anew(app, page):
    visit(page, app, "explore")
    view(page, "Trade-off map")
    drawn(page, 1)
    count = "plot => plot._fullData.find(trace => trace.name === 'nothing can be promised').x.length"
    sharp = page.locator(PLOTS).first.evaluate(count)
    page.get_by_test_id("stRadio").get_by_text("The paper's rule", exact=True).click()
    more = f"n => {{ const plot = document.querySelector('{PLOTS}'); return plot && ({count})(plot) > n }}"
    page.wait_for_function(more, arg=sharp, timeout=120_000)


def test_coverage_by_diagnosis(app, page):
    visit(page, app, "explore")
    view(page, "By diagnosis")
    (names,) = drawn(page, 1)
    assert names == [
        *("private, together", "private, each diagnosis"),
        *("without privacy, together", "without privacy, each"),
    ]


@pytest.mark.parametrize("over", ["ε", "bins m", "records n"])
def test_random_splits(app, page, over):
    visit(page, app, "explore")
    view(page, "Random splits")
    page.get_by_role("radio", name=over, exact=True).click()
    settle(page)
    press(page, "Run")
    page.get_by_text("One of these points").first.wait_for(timeout=120_000)
    coverage, size, *histograms = drawn(page, 5)
    assert {"paper's rule", "sharp rule", "without privacy", "asked for"} == set(coverage)
    assert {"paper's rule", "sharp rule", "without privacy"} == set(size)
    assert len(histograms) == 3
    marks = page.locator(PLOTS).first.evaluate(
        "plot => plot.data.filter(trace => trace.name && trace.showlegend !== false).map(trace => trace.marker?.symbol)"
    )
    assert not any("open" in str(mark) for mark in marks)  # hollow means too few records, and not in the legend


@pytest.mark.parametrize("width", [1400, 400])
def test_planner_and_random_splits_agree_within_the_margins_that_both_show(app, new_page, width):
    page = new_page(width)
    visit(page, app, "explore")
    rules = {"Sharp rule": "sharp rule", "Paper's rule": "paper's rule", "Without privacy": "without privacy"}
    planned = {name: sized(metric(page.locator(".st-key-explore_expected"), name)) for name in rules}
    view(page, "Random splits")
    press(page, "Run")
    drawn(page, 5)
    assert page.get_by_role("slider", name="Privacy loss ε").get_attribute("aria-valuetext") == "1"
    for name, label in rules.items():
        (size, margin), (mean, other) = planned[name], sized(metric(page, f"Set size, {label}"))
        assert 0 < margin <= other < 0.1
        assert abs(size - mean) <= margin + other, name
    assert planned["Paper's rule"][0] - planned["Sharp rule"][0] > 0.1  # sizes that differ are told apart
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= width
    page.get_by_role("radio", name="Simulated", exact=True).click()
    sees(page, re.compile("The last run was on other records"))
    settle(page)
    assert page.locator(PLOTS).count() == 0


def sized(shown: str) -> tuple[float, float]:
    """A mean and its margin, of "1.29 ± 0.01"."""
    mean, margin = shown.split(" ± ")
    return float(mean), float(margin)


def test_a_long_run_shows_progress_and_can_be_cancelled(app, page):
    visit(page, app, "explore")
    view(page, "Random splits")
    page.get_by_role("radio", name="records n", exact=True).click()
    settle(page)
    move_slider(page, "Random splits", 3)
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_role("button", name="Cancel").click()
    sees(page, re.compile("Cancelled"))
    assert page.locator(PLOTS).count() == 0


def test_inside_a_release(app, page):
    visit(page, app, "explore")
    view(page, "Inside a release")
    assert drawn(page, 1) == [["probability of ŝ", "without privacy"]]
    press(page, "Draw 50 times")
    sees(page, "Drawn 50 times (simulated, not released)")
    assert drawn(page, 1) == [["probability of ŝ", "without privacy", "ŝ, simulated", "earlier draws"]]


def test_a_file_is_taken_only_as_public(app, page):
    visit(page, app, "explore")
    page.get_by_role("radio", name="A public file").click()
    settle(page)
    sees(page, "Private records belong on Calibrate")
    upload(page, score_file("open.csv", 400, 5))
    page.get_by_text("These records are public or made up").click()
    settle(page)
    sees(page, re.compile("open.csv: 400 records, used as public"))


def test_nothing_is_spent(app, page):
    ledger = app.home / "ledger.sqlite"
    before = ledger.read_bytes() if ledger.exists() else b""
    visit(page, app, "explore")
    for name in ("Levels", "Inside a release"):
        view(page, name)
    press(page, "Draw once")
    assert (ledger.read_bytes() if ledger.exists() else b"") == before


def test_every_view_fits_a_narrow_window(app, new_page):
    page = new_page(400)
    visit(page, app, "explore")
    for name in ("Planner", "Trade-off map", "By diagnosis", "Levels", "Random splits", "Inside a release"):
        view(page, name)
        assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= 400
