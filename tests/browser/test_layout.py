"""Narrow windows, the keyboard, labels, and the first address that a new server is asked for."""

import pytest

from tests.browser import driving as ui
from tests.browser.server import serve

UNLABELLED = """() => [...document.querySelectorAll(
    '[data-testid=stMain] input:not([type=file]), [data-testid=stMain] button, [data-testid=stMain] [role=slider]')]
    .filter(e => e.offsetParent !== null && e.checkVisibility({visibilityProperty: true}))
    .filter(e => !(e.getAttribute('aria-label') || e.getAttribute('aria-labelledby') || e.innerText || e.title
        || (e.labels && e.labels.length)))
    .map(e => e.outerHTML.slice(0, 200))"""
RIGHT_EDGE = "document.querySelector('[data-testid=stSidebar]').getBoundingClientRect().right"
HEIGHTS = """plot => {
    const {height, _size, legend} = plot._fullLayout;
    return {all: height, chart: _size.h, legend: legend._height};
}"""
NOT_OURS = {"exclude": [["[data-testid=stToast]"], ["[data-testid=stFileUploaderDropzone]"]]}  # Streamlit's own roles
SCREENS = ["", "calibrate", "diagnose", "explore", "model", "ledger"]
SIDEBAR = ["Home", "Calibrate", "Diagnose", "Explore", "Model", "Ledger"]


def test_in_a_narrow_window_nothing_runs_over_the_edge_and_every_control_has_a_name(tmp_path, new_page):
    """On a new server, which is first asked for Calibrate: the app itself answers."""
    with serve(tmp_path) as app:
        page = new_page(400)
        ui.visit(page, app, "calibrate")
        page.get_by_role("heading", name="Calibrate", exact=True).wait_for()
        notices = [one.bounding_box() for one in page.get_by_text("Not a medical device").all()]
        assert [box["x"] >= 0 for box in notices if box].count(True) == 1, "said once, visibly"
        names = page.get_by_test_id("stSidebarNav").get_by_role("link").all_inner_texts()
        assert [name.split("\n")[-1] for name in names] == SIDEBAR
        ui.demo(page, app)
        card = ui.first_card(page)
        assert card["y"] + card["height"] < 900, "the first set is seen without scrolling"
        for screen in SCREENS:
            ui.visit(page, app, screen)
            assert ui.fits(page, 400), screen
            assert page.evaluate(UNLABELLED) == [], screen
        heights = page.locator(".js-plotly-plot").last.evaluate(HEIGHTS)
        assert heights["chart"] > heights["all"] / 2
        assert heights["legend"] < heights["chart"] / 2
        page.get_by_test_id("stExpandSidebarButton").press("Enter")
        page.wait_for_function(f"{RIGHT_EDGE} > 200")
        page.get_by_test_id("stSidebar").get_by_role("link", name="Calibrate").press("Enter")
        page.get_by_role("heading", name="Calibrate", exact=True).wait_for()
        page.wait_for_function(f"{RIGHT_EDGE} <= 0")
        wide = new_page()
        ui.visit(wide, app)
        ui.go_to(wide, "Calibrate")
        assert wide.evaluate(RIGHT_EDGE) > 200


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_any_screen_and_each_has_its_own_title(app, new_page, scheme):
    """Contrast, names, headings and alternative texts by WCAG, as axe-core checks them."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-core is not installed.").Axe()
    page, found, titles = new_page(color_scheme=scheme), {}, set()

    def check(screen: str) -> None:
        for one in axe.run(page, NOT_OURS).response["violations"]:
            found[screen, one["id"]] = [node["html"][:150] for node in one["nodes"]]

    ui.demo(page, app)
    check("results")
    ui.look(page)
    page.get_by_role("dialog").get_by_role("img").first.wait_for()
    check("viewer")
    for screen in SCREENS:
        ui.visit(page, app, screen)
        titles.add(page.title())
        check(screen)
    assert not found, "\n".join(f"{place}: {parts}" for place, parts in found.items())
    assert len(titles) == len(SCREENS)
