"""Marked values in calibration data: after releases, refusals and cancels they are nowhere but on that screen."""

import io
import re
import struct
import zipfile
from pathlib import Path

import numpy as np

from tests.browser.driving import choose, go_to, press, sees, settle, upload, visit
from tests.browser.pictures import png
from tests.browser.samples import csv_file
from tests.browser.watching import record_requests, serve_watched, written
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
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        rows = ["file,label,patient"]
        for number, xray in enumerate(draw_xrays(60, 0)):
            archive.writestr(f"{PATIENT} {number}.png", png("", xray.grey)["buffer"])
            rows.append(f"{PATIENT} {number}.png,{xray.label if number else LABEL},{PATIENT} {number}")
        archive.writestr("labels.csv", "\n".join(rows))
        archive.writestr(f"{FILE}.pdf", b"%PDF " + SCORE.encode())
    return {"name": f"{FILE}.zip", "mimeType": "application/zip", "buffer": out.getvalue()}


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
    for label, value in (("Name of the data set", name), ("Privacy budget of the data set", budget)):
        box = page.get_by_label(label, exact=True)
        box.fill(value)
        box.press("Enter")
        settle(page)


def spend(page) -> None:
    press(page, "Calibrate …")
    press(page, re.compile("^Spend ε"))
    sees(page, "Your calibration")


def errors_of_bad_files(page) -> str:
    """Every refusal of a bad file, as it stands on the screen."""
    said = []
    for text in BAD.values():
        upload(page, csv_file(f"{FILE}.csv", text))
        alert = page.get_by_test_id("stAlertContentError")
        alert.wait_for()
        said.append(alert.inner_text().replace("\u2060", "").replace(FILE, ""))
        page.get_by_role("button", name=re.compile("^Remove")).click()
        settle(page)
    return "\n".join(said)


def downloads(page, *buttons: str) -> bytes:
    found = b""
    for button in buttons:
        with page.expect_download() as download:
            page.get_by_role("button", name=button).first.click()
        found += download.value.path().read_bytes() + download.value.suggested_filename.encode()
    return found


def test_marked_values_stay_on_the_screen_that_gave_them(new_page, tmp_path):
    with serve_watched(tmp_path) as (app, notes):
        page, other = new_page(), new_page()
        asked = record_requests(page)
        visit(page, app)
        go_to(page, "Calibrate")
        choose(page, "A score file")
        assert marks_in(errors_of_bad_files(page).encode()) == []

        upload(page, csv_file(f"{FILE}.csv", marked_scores()))
        name_it(page, "ward A", "0.5")
        sees(page, "is more than the whole budget of 0.5")
        name_it(page, "ward A", "1.5")
        press(page, "Calibrate …")
        press(page, "Cancel")
        spend(page)
        exports = downloads(page, "Download calibration")
        sees(page, "has 0.5 left")

        choose(page, "X-rays with labels")
        upload(page, csv_file("labels.csv", f"a.png,{LABEL},{PATIENT}\n"), which=1)
        upload(page, marked_xrays())
        alert = page.get_by_test_id("stAlertContentError")
        alert.wait_for()
        assert marks_in(alert.inner_text().encode()) == []
        page.get_by_role("button", name="Remove labels.csv").click()
        settle(page)
        page.get_by_role("button", name="Classify 60 X-rays").click()
        page.get_by_role("button", name="Cancel").click()
        press(page, "Classify 60 X-rays")
        page.get_by_text("Records used").wait_for(timeout=300_000)
        settle(page)
        name_it(page, "ward B", "20")
        spend(page)

        go_to(page, "Ledger")
        exports += downloads(page, "Export releases", "Export everything", "Download it")
        assert b"ward A" in exports
        assert marks_in(exports) == []
        visit(other, app)
        seen = other.content()
        for screen in ("Calibrate", "Diagnose", "Explore", "Model", "Ledger"):
            go_to(other, screen)
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
