"""Nothing private leaves the screen that gave it, and nothing at all leaves the machine."""

import os
import re
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np

from ppsets_core.files.names import shown_name
from tests.attacks.names import HOSTILE
from tests.browser import driving as ui
from tests.browser.samples import csv_file, png, xray_pngs, zip_file
from tests.browser.server import WATCHED, left, record_requests, serve_watched, written
from tests.drawn_xrays import draw_xrays

SCORE, PATIENT, LABEL, FILE = "0.7312845193", "Zwingliana Quark", "rare-finding-xq", "zebra upload"
OUTSIDE = "7.312845193"
COMPLEMENT = 1 - float(SCORE)
PRIVATE = [
    *(word.encode() for word in (SCORE, PATIENT, LABEL, FILE, OUTSIDE, repr(COMPLEMENT)[:12])),
    *(word.encode("utf-16-le") for word in (PATIENT, LABEL, FILE)),
    *(struct.pack(order, value) for value in (float(SCORE), COMPLEMENT) for order in ("<d", ">d")),
]
# Python tries once, with the word "blat" in a file of eight letters, whether it could write temporary files; a number
# is a file that was noted by its name when it was opened.
HARMLESS = re.compile(r"/dev/null|\d+|.*/tmp/[a-z0-9_]{8}|.*/home/ledger\.sqlite\.head(\.new)?")


def marks_in(data: bytes) -> list[bytes]:
    return [mark for mark in PRIVATE if mark.lower() in data.lower()]


def marked_scores(records: int = 700) -> str:
    """Probabilities with one marked record, larger than Starlette keeps in memory by itself.

    The columns' names are no secret: a calibration names the diagnoses that it is for.
    """
    rng = np.random.default_rng(0)
    lines = ["patient,label,ill,normal,note", f"{PATIENT},ill,{SCORE},{COMPLEMENT!r},"]
    for number, p in enumerate(rng.uniform(0.5, 1, records - 1).tolist()):
        lines.append(f"{PATIENT} {number},ill,{p!r},{1 - p!r},{'x' * 2000}")
    return "\n".join(lines)


def marked_xrays() -> dict:
    files, rows = {f"{FILE}.pdf": b"%PDF " + SCORE.encode()}, ["file,label,patient"]
    for number, xray in enumerate(draw_xrays(60, 0)):
        files[f"{PATIENT} {number}.png"] = png("", xray.grey)["buffer"]
        rows.append(f"{PATIENT} {number}.png,{xray.label if number else LABEL},{PATIENT} {number}")
    return zip_file(f"{FILE}.zip", files | {"labels.csv": "\n".join(rows).encode()})


BAD = {
    "out of range": f"patient,score\n{PATIENT},{SCORE}\n{PATIENT} 2,{OUTSIDE}\n",
    "not a number": f"patient,score\n{PATIENT},{SCORE}\nb,{SCORE}x\nc,0.1\nd,0.2\n",
    "a column twice": f"patient,score,score\n{PATIENT},{SCORE},{SCORE}\n",
    "no header": f"{PATIENT},{SCORE}\nb,{OUTSIDE}\n",
    "no header, twice": f"{PATIENT},{PATIENT},{SCORE}\nb,b,0.5\n",
    "unknown label": f"patient,label,a,b\n{PATIENT},{LABEL},{SCORE},{COMPLEMENT!r}\nc,a,0.5,0.5\n",
    "ragged": f"patient,score\n{PATIENT},{SCORE},{SCORE}\n",
}


def name_it(page, name: str, budget: str) -> None:
    ui.fill(page, "Name of the data set", name)
    ui.fill(page, "Privacy budget of the data set", budget)


def errors_of_bad_files(page) -> str:
    """Every refusal of a bad file, as it stands on the screen."""
    said = []
    for text in BAD.values():
        ui.upload(page, csv_file(f"{FILE}.csv", text))
        alert = page.get_by_test_id("stAlertContentError")
        alert.wait_for()
        said.append(alert.inner_text().replace("\u2060", "").replace(FILE, ""))
        ui.press(page, re.compile("^Remove"))
    return "\n".join(said)


def test_marked_values_stay_on_the_screen_that_gave_them(new_page, tmp_path):
    with serve_watched(tmp_path) as (app, notes):
        page, other = new_page(), new_page()
        asked = record_requests(page)
        ui.visit(page, app)
        ui.go_to(page, "Calibrate")
        ui.choose(page, "A score file")
        assert marks_in(errors_of_bad_files(page).encode()) == []

        ui.upload(page, csv_file(f"{FILE}.csv", marked_scores()))
        name_it(page, "ward A", "0.5")
        ui.sees(page, "is more than the whole budget of 0.5")
        name_it(page, "ward A", "1.5")
        ui.press(page, "Calibrate …")
        ui.press(page, "Cancel")
        ui.calibrate(page)
        exports = ui.downloaded(page, re.compile("^Download calibration"))
        ui.sees(page, "has 0.5 left")

        ui.choose(page, "X-rays with labels")
        ui.upload(page, csv_file("labels.csv", f"a.png,{LABEL},{PATIENT}\n"), which=1)
        ui.upload(page, marked_xrays())
        alert = page.get_by_test_id("stAlertContentError")
        alert.wait_for()
        assert marks_in(alert.inner_text().encode()) == []
        ui.press(page, "Remove labels.csv")
        ui.button(page, "Classify 60 X-rays").press("Enter")
        ui.button(page, "Cancel").press("Enter")
        ui.press(page, "Classify 60 X-rays")
        page.get_by_text(" used: ").wait_for(timeout=ui.LONG)
        ui.settle(page)
        name_it(page, "ward B", "20")
        ui.calibrate(page)

        ui.go_to(page, "Ledger")
        for name in ("Export releases", "Export everything", "Download it"):
            exports += ui.downloaded(page, name)
        assert b"ward A" in exports
        assert marks_in(exports) == []
        ui.visit(other, app)
        seen = other.content()
        for screen in ("Calibrate", "Diagnose", "Explore", "Model", "Ledger"):
            ui.go_to(other, screen)
            seen += other.content()
        assert "ward A" in seen
        assert marks_in(seen.encode()) == []
        assert marks_in("\n".join([*asked, page.url]).encode()) == []
        for place in (app.home, tmp_path / "tmp", app.data):
            assert marks_in(everything_below(place)) == []
        key = str(app.home / "ledger.sqlite.key")
        assert [path for path in written(notes) - {key} if not HARMLESS.fullmatch(path)] == []
    assert marks_in(app.log.read_bytes()) == []
    assert marks_in(everything_below(app.home)) == []


def everything_below(folder: Path) -> bytes:
    """Names and contents of all files, journals too."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return b"".join(str(path).encode() + path.read_bytes() for path in files)


def test_no_screen_connects_to_anyone_else(new_page, tmp_path):
    with serve_watched(tmp_path) as (app, notes):
        page = new_page()
        asked = record_requests(page)
        ui.demo(page, app)
        ui.go_to(page, "Calibrate")
        ui.choose(page, "A score file")
        ui.go_to(page, "Diagnose")
        page.locator(ui.CARDS).nth(11).wait_for(timeout=ui.LONG)
        ui.look(page)
        page.get_by_role("img", name=re.compile("pixels")).wait_for()
        page.get_by_role("dialog").get_by_role("radio", name="Bacterial pneumonia").press("Enter")
        ui.sees(page, re.compile("not where disease is|Nothing here speaks"))
        ui.press(page, "Close", within=page.get_by_role("dialog"))
        ui.go_to(page, "Explore")
        page.locator(".main-svg").first.wait_for()
        ui.go_to(page, "Model")
        for view in ("Weights", "Fine-tune"):
            ui.tab(page, view)
        ui.go_to(page, "Ledger")
        ui.sees(page, "coronahack-demo")
        page.wait_for_timeout(500)
        assert left(notes) == []
        elsewhere = [url for url in asked if not url.startswith((f"{app.url}/", "data:", f"blob:{app.url}/"))]
        assert elsewhere == []
        assert any("/_stcore/stream" in url for url in asked), "the watch must have seen the page's own socket"


def test_the_watch_notices_and_refuses_a_connection(tmp_path):
    notes = tmp_path / "notes.txt"
    environment = {**os.environ, "PYTHONPATH": str(WATCHED), "WATCH_NOTES": str(notes)}
    code = "import urllib.request; urllib.request.urlopen('http://192.0.2.1/', timeout=5)"
    run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert "no connection may leave" in run.stderr
    assert left(notes) == ["leaves socket.getaddrinfo 192.0.2.1"]


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


def on_screen(name: str) -> str:
    """What is left of a name when a browser has uploaded it: browsers keep what comes after the last slash."""
    return shown_name(re.split(r"[/\\]", name)[-1])


def test_hostile_file_names_are_shown_letter_for_letter_and_run_nothing(app, page):
    opened = []
    page.on("dialog", lambda dialog: (opened.append(dialog.message), dialog.dismiss()))
    ui.to_diagnose(page, app)
    drawn = xray_pngs(len(NAMES), 0)
    ui.get_sets(page, *[{**picture, "name": name} for picture, name in zip(drawn, NAMES.values(), strict=True)])
    assert page.evaluate(BECAME) == []
    text = " ".join(" ".join(page.locator(ui.CARDS).all_inner_texts()).replace("\u2060", "").split())
    assert [kind for kind, name in NAMES.items() if on_screen(name) not in text and kind != "lines"] == []
    assert not re.search("[\u202a-\u202e\u2066-\u2069\u200e\u200f]", text)
    ui.go_to(page, "Calibrate")
    ui.choose(page, "A score file")
    for kind, name in NAMES.items():
        ui.upload(page, csv_file(name.replace(".png", ".csv"), "score\nx"))
        ui.sees(page, re.compile("no column of numbers|is missing"))
        assert page.evaluate(BECAME) == [], kind
    assert opened == []
