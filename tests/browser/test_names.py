"""Hostile file names in the browser: letter for letter on the screen, no element and no script out of them."""

import re

import pytest

from ppsets_core.files.names import shown_name
from tests.attacks.names import HOSTILE
from tests.browser.driving import choose, go_to, press, sees, settle, upload, visit
from tests.browser.pictures import xray_pngs
from tests.browser.samples import csv_file, score_file

CARDS = "[class*=st-key-card-]"
BECAME = """() => {
    const main = document.querySelector('[data-testid=stMain]');
    const found = [...main.querySelectorAll('b, i, script, iframe, .katex, [class*=badge] [class*=badge]')]
        .map(element => element.outerHTML.slice(0, 80));
    for (const image of main.querySelectorAll('img'))
        if (!image.getAttribute('src').startsWith('data:image/jpeg;base64,')) found.push(image.outerHTML);
    for (const link of main.querySelectorAll('a'))
        if (/evil|javascript|mailto/.test(link.getAttribute('href'))) found.push(link.outerHTML);
    if (window.ran) found.push('a script ran');
    return found;
}"""
NAMES = {kind: name.replace("/", "∕") if kind in ("html", "script") else name for kind, name in HOSTILE.items()}


@pytest.fixture
def quiet(page):
    """No dialog may open, as an alert would."""
    opened = []
    page.on("dialog", lambda dialog: (opened.append(dialog.message), dialog.dismiss()))
    yield page
    assert opened == []


def text_of_cards(page) -> str:
    text = " ".join(page.locator(CARDS).all_inner_texts())
    return " ".join(text.replace("\u2060", "").split())


def on_screen(name: str) -> str:
    """What is left of a name when a browser has uploaded it: browsers keep what comes after the last slash."""
    return shown_name(re.split(r"[/\\]", name)[-1])


def test_on_diagnose(app, quiet):
    visit(quiet, app)
    press(quiet, "Try the demo")
    go_to(quiet, "Diagnose")
    drawn = xray_pngs(len(NAMES), 0)
    upload(quiet, *[{**picture, "name": name} for picture, name in zip(drawn, NAMES.values(), strict=True)])
    press(quiet, re.compile("Get prediction sets"))
    quiet.locator(CARDS).first.wait_for(timeout=120_000)
    settle(quiet)
    assert quiet.evaluate(BECAME) == []
    text = text_of_cards(quiet)
    assert [kind for kind, name in NAMES.items() if on_screen(name) not in text and kind != "lines"] == []
    assert not re.search("[\u202a-\u202e\u2066-\u2069\u200e\u200f]", text)


def test_on_calibrate(app, quiet):
    visit(quiet, app, "calibrate")
    choose(quiet, "A score file")
    for kind, name in NAMES.items():
        upload(quiet, csv_file(name.replace(".png", ".csv"), "score\nx"))
        sees(quiet, re.compile("no column of numbers|is missing"))
        assert quiet.evaluate(BECAME) == [], kind
    page_of_html = score_file(NAMES["html"].replace(".png", ".csv"), 300, 0)
    upload(quiet, page_of_html)
    sees(quiet, "Records read")
    assert quiet.evaluate(BECAME) == []
