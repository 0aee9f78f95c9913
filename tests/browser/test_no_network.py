"""Nothing leaves the machine: through every screen, neither the server nor its pages ask anyone else for anything."""

import re

from tests.browser.driving import choose, go_to, press, sees, settle, upload, visit
from tests.browser.pictures import xray_pngs
from tests.browser.watching import left, record_requests, serve_watched


def test_no_screen_connects_to_anyone_else(new_page, tmp_path):
    with serve_watched(tmp_path) as (app, notes):
        page = new_page()
        asked = record_requests(page)
        visit(page, app)
        press(page, "Try the demo")
        sees(page, "Active calibration:")
        go_to(page, "Calibrate")
        choose(page, "A score file")
        go_to(page, "Diagnose")
        upload(page, *xray_pngs(2, 0))
        press(page, re.compile("Get prediction sets"))
        page.locator("[class*=st-key-card-]").first.wait_for(timeout=120_000)
        page.locator("[class*=st-key-card-]").first.get_by_role("button", name="Open viewer").click()
        page.get_by_role("img", name=re.compile("pixels")).wait_for()
        page.get_by_role("dialog").get_by_role("combobox", name=re.compile("Where the model looked")).click()
        page.get_by_role("option", name="for normal").click()
        sees(page, "not where disease is")
        page.get_by_role("button", name="Close", exact=True).click()
        settle(page)
        go_to(page, "Explore")
        page.locator(".main-svg").first.wait_for()
        go_to(page, "Model")
        for view in ("Weights", "Fine-tune"):
            page.get_by_role("tab", name=view).click()
            settle(page)
        go_to(page, "Ledger")
        sees(page, "coronahack-demo")
        page.wait_for_timeout(500)
        assert left(notes) == []
        elsewhere = [url for url in asked if not url.startswith((f"{app.url}/", "data:", f"blob:{app.url}/"))]
        assert elsewhere == []
        assert any("/_stcore/stream" in url for url in asked), "the watch must have seen the page's own socket"


def test_the_watch_notices_and_refuses_a_connection(tmp_path):
    import os
    import subprocess
    import sys

    from tests.browser.watching import WATCHED

    notes = tmp_path / "notes.txt"
    environment = {**os.environ, "PYTHONPATH": str(WATCHED), "WATCH_NOTES": str(notes)}
    code = "import urllib.request; urllib.request.urlopen('http://192.0.2.1/', timeout=5)"
    run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert "no connection may leave" in run.stderr
    assert left(notes) == ["leaves socket.getaddrinfo 192.0.2.1"]
