"""Other sites and other browsers: they cannot speak to the app, or fetch what it shows to someone else."""

import http.client
from urllib.parse import urlsplit

from tests.browser import driving as ui
from tests.browser.server import left, serve_watched

STRANGERS = ["http://evil.example", "https://evil.streamlit.app", "http://localhost:1", "null"]
UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}


def status(url: str, path: str, **headers: str) -> int:
    """What the server answers to a request that no browser of ours sends."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=30)
    try:
        connection.request("GET", path, headers=headers)
        return connection.getresponse().status
    finally:
        connection.close()


def test_a_foreign_page_makes_the_server_connect_to_nobody(chromium, tmp_path):
    with serve_watched(tmp_path) as (app, notes):
        assert status(app.url, "/_stcore/stream", **UPGRADE, Origin=app.url) == 101
        for headers in (*({"Origin": origin} for origin in STRANGERS), {"Host": "evil.example"}):
            assert status(app.url, "/_stcore/stream", **UPGRADE, **headers) == 403
            assert status(app.url, "/_stcore/host-config", **headers) == 403
        assert status(app.url, "/_stcore/stream", **UPGRADE) == 403
        assert left(notes) == []


def test_what_one_browser_is_shown_no_other_can_fetch(new_page, app):
    page, other = new_page(), new_page()
    ui.to_diagnose(page, app)
    ui.visit(page, app)
    page.get_by_text("Details of the calibration").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download calibration (JSON)").press("Enter")
    address = download.value.url
    assert "/media/" in address
    assert page.request.get(address).status == 200
    ui.visit(other, app, "explore")  # a screen that does not offer the same file
    assert other.request.get(address).status == 404
    assert status(app.url, urlsplit(address).path) == 404
