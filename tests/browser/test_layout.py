"""Narrow windows, the keyboard, labels, and the first address that a new server is asked for."""

import re

import pytest

from tests.browser.driving import go_to, press, visit
from tests.browser.server import serve

UNLABELLED = """() => [...document.querySelectorAll(
    '[data-testid=stMain] input:not([type=file]), [data-testid=stMain] button, [data-testid=stMain] [role=slider]')]
    .filter(e => e.offsetParent !== null)
    .filter(e => !(e.getAttribute('aria-label') || e.getAttribute('aria-labelledby') || e.innerText || e.title
        || (e.labels && e.labels.length)))
    .map(e => e.outerHTML.slice(0, 200))"""
RIGHT_EDGE = "document.querySelector('[data-testid=stSidebar]').getBoundingClientRect().right"
SCREENS = ["", "calibrate", "diagnose", "explore", "model", "ledger"]
SIDEBAR = ["Home", "Calibrate", "Diagnose", "Explore", "Model", "Ledger"]


@pytest.mark.parametrize("screen", SCREENS)
def test_nothing_runs_over_the_edge_of_a_narrow_window(app, new_page, screen):
    page = new_page(400)
    visit(page, app)
    press(page, "Try the demo")
    visit(page, app, screen)
    wide = page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth")
    assert wide <= 400


@pytest.mark.parametrize("screen", SCREENS)
def test_every_control_has_a_name(app, page, screen):
    visit(page, app, screen)
    assert page.evaluate(UNLABELLED) == []


@pytest.mark.parametrize("screen", ["", "diagnose"])
def test_the_words_are_explained_on_every_screen(app, page, screen):
    visit(page, app, screen)
    page.get_by_test_id("stSidebar").get_by_role("button", name=re.compile("Glossary")).click()
    for word in ("Coverage", "Threshold ŝ", "Privacy budget"):
        page.get_by_text(word, exact=True).first.wait_for()


def test_the_sidebar_folds_once_a_screen_was_chosen_in_a_narrow_window(app, new_page):
    page = new_page(400)
    visit(page, app)
    sidebar = page.get_by_test_id("stSidebar")
    page.get_by_test_id("stExpandSidebarButton").click()
    page.wait_for_function(f"{RIGHT_EDGE} > 200")
    sidebar.get_by_role("link", name="Calibrate").click()
    page.get_by_role("heading", name="Calibrate", exact=True).wait_for()
    page.wait_for_function(f"{RIGHT_EDGE} <= 0")


def test_the_sidebar_stays_in_a_wide_window(app, page):
    visit(page, app)
    go_to(page, "Calibrate")
    assert page.evaluate(RIGHT_EDGE) > 200


def test_first_address_of_a_new_server_is_shown_by_the_app(tmp_path, new_page):
    with serve(tmp_path) as app:
        page = new_page()
        visit(page, app, "calibrate")
        names = page.get_by_test_id("stSidebarNav").get_by_role("link").all_inner_texts()
        assert [name.split("\n")[-1] for name in names] == SIDEBAR
        page.get_by_role("heading", name="Calibrate", exact=True).wait_for()
