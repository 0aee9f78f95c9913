"""The gate before every request, asked as browsers and others ask."""

import asyncio

import pytest

from pages.widgets.server import gate as gates
from pages.widgets.server.gate import BEFORE_A_SOCKET, BROWSER, Gate
from ppsets_core.web import HEADERS, KEPT_SECONDS, MediaAccess

HOST = ("host", "localhost:8501")
OWN = ("origin", "http://localhost:8501")
HASH = "0123456789abcdef" * 2
COOKIE = ("cookie", f"other=1; {BROWSER}={'ab' * 32}")


async def answering(scope, receive, send):
    """Stands for Streamlit: a page for every request, and at every socket the name of one picture."""
    if scope["type"] == "http":
        await send({"type": "http.response.start", "status": 200, "headers": [(b"X-Frame-Options", b"ALLOWALL")]})
        await send({"type": "http.response.body", "body": b"page"})
    else:
        await send({"type": "websocket.accept"})
        await send({"type": "websocket.send", "bytes": f"\x12\x2a/media/{HASH}.jpg2".encode()})
        await receive()


def gate() -> Gate:
    return Gate(answering, hosts=["localhost", "127.0.0.1"])


def asked(a_gate: Gate, path: str = "/", *headers, method: str = "GET", kind: str = "http", messages=()) -> list[dict]:
    """What the gate sends for one request; a socket sends these messages and closes."""
    sent: list[dict] = []
    waiting = [{"type": "websocket.receive", "bytes": message} for message in messages]

    async def receive() -> dict:
        return waiting.pop(0) if waiting else {"type": "websocket.disconnect"}

    async def send(message) -> None:
        sent.append(message)

    raw = [(name.encode(), value.encode()) for name, value in headers]
    scope = {"type": kind, "method": method, "path": path, "headers": raw, "scheme": "http"}
    asyncio.run(a_gate(scope, receive, send))
    return sent


def status(*args, **options) -> int:
    return asked(gate(), *args, **options)[0]["status"]


def test_our_own_names_are_served_and_two_hosts_or_none_are_refused():
    for host in ("localhost", "LOCALHOST:8501", "127.0.0.1:8501", "localhost.:1"):
        assert status("/", ("host", host)) == 200
    assert status("/", HOST, HOST) == status("/") == 403
    for path in ("/_stcore/agent/interact", "/_stcore/agent/mcp", "/_stcore/metrics"):
        assert status(path, HOST) == 404, "what Streamlit offers to programs is closed"


HOSTS = ["evil.example", "localhost.evil.example", "localhost@evil.example", "evil.example:8501", "", "localhost:x"]
ORIGINS = ["http://evil.example", "http://localhost:9999", "null", "https://share.streamlit.io", "file://"]


@pytest.mark.parametrize(
    ("host", "origin"), [*((host, f"http://{host}") for host in HOSTS), *((HOST[1], origin) for origin in ORIGINS)]
)
def test_another_host_and_a_foreign_page_are_refused_everywhere(host, origin):
    headers = (("host", host), ("origin", origin))
    for path in ("/", BEFORE_A_SOCKET, "/media/x"):
        assert status(path, *headers, COOKIE) == 403
    if host != HOST[1]:
        assert status("/", ("host", host)) == 403
    (closed,) = asked(gate(), "/_stcore/stream", *headers, kind="websocket")
    assert closed["type"] == "websocket.close"


def test_a_socket_opens_for_our_own_page_only():
    assert asked(gate(), "/_stcore/stream", HOST, OWN, kind="websocket")[0]["type"] == "websocket.accept"
    (closed,) = asked(gate(), "/_stcore/stream", HOST, kind="websocket")
    assert closed["type"] == "websocket.close"


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_another_site_may_link_to_us_and_nothing_else(site):
    def fetch(mode, dest):
        return HOST, ("sec-fetch-site", site), ("sec-fetch-mode", mode), ("sec-fetch-dest", dest)

    assert status("/", *fetch("navigate", "document")) == 200
    assert status("/", *fetch("navigate", "document"), method="POST") == 403
    assert status("/", *fetch("navigate", "iframe")) == 403
    assert status("/media/x", *fetch("no-cors", "image")) == 403
    assert status("/static/x.js", *fetch("no-cors", "script")) == 403


def test_every_answer_forbids_frames_whatever_streamlit_says():
    for path, headers in (("/", [HOST]), ("/", [("host", "evil.example")]), ("/media/x", [HOST])):
        start = asked(gate(), path, *headers)[0]
        found = [(name.decode().lower(), value.decode()) for name, value in start["headers"]]
        assert [pair for pair in HEADERS.items() if pair not in found] == []
        assert [value for name, value in found if name == "x-frame-options"] == ["DENY"]
    assert "frame-ancestors 'none'" in HEADERS["content-security-policy"]


def cookie_of(path: str, *headers) -> str | None:
    given = dict(asked(gate(), path, HOST, *headers)[0]["headers"])
    return given[b"set-cookie"].decode() if b"set-cookie" in given else None


def test_a_browser_is_named_once_before_its_first_socket():
    first, second = cookie_of(BEFORE_A_SOCKET), cookie_of(BEFORE_A_SOCKET)
    assert first is not None
    assert first != second
    assert first.startswith(f"{BROWSER}=")
    assert "HttpOnly; SameSite=Lax" in first
    assert cookie_of("/") is None
    assert cookie_of(BEFORE_A_SOCKET, COOKIE) is None


def test_a_picture_is_served_to_the_browser_it_was_shown_to():
    one = gate()
    picture = f"/media/{HASH}.jpg"
    other = ("cookie", f"{BROWSER}={'cd' * 32}")

    def fetched(*headers) -> int:
        return asked(one, picture, HOST, *headers)[0]["status"]

    assert fetched(COOKIE) == 404
    asked(one, "/_stcore/stream", HOST, OWN, COOKIE, kind="websocket")
    assert (fetched(COOKIE), fetched(other), fetched()) == (200, 404, 404)
    assert asked(one, f"/media/{'f' * 32}.jpg", HOST, COOKIE)[0]["status"] == 404
    asked(one, "/_stcore/stream", HOST, OWN, kind="websocket")
    assert fetched() == 404


def test_a_browser_is_forgotten_some_time_after_its_last_socket():
    now = [0.0]
    media = MediaAccess(lambda: now[0])
    media.connected("one")
    media.connected("one")
    media.sent("one", b"... media/" + HASH.encode() + b".png")
    now[0] = 10 * KEPT_SECONDS
    media.disconnected("one")
    now[0] = 20 * KEPT_SECONDS
    assert media.knows("one", f"/media/{HASH}.png")
    media.disconnected("one")
    now[0] += KEPT_SECONDS
    assert media.knows("one", f"/media/{HASH}.png")
    now[0] += 1
    assert not media.knows("one", f"/media/{HASH}.png")
    media.connected("one")
    assert not media.knows("one", f"/media/{HASH}.png")


def test_sockets_are_limited_and_strangers_make_room_for_others(monkeypatch):
    """Four of three: the first stranger's is closed for the fourth; when all are people's, the next is refused."""
    monkeypatch.setattr(gates, "MOST_SOCKETS", 3)
    monkeypatch.setattr(gates, "admits", lambda cookies: "person" in cookies)

    async def open_sockets(one: Gate, *cookies: str) -> list[list[object]]:
        told: list[list[object]] = [[] for _ in cookies]

        async def opened(number: int) -> None:
            async def send(message) -> None:
                told[number].append(message.get("code", message["type"]))

            async def receive() -> dict:
                await asyncio.sleep(0 if number == len(cookies) - 1 else 60)
                return {"type": "websocket.disconnect"}

            pairs = (HOST, OWN, ("cookie", cookies[number]))
            headers = [(name.encode(), value.encode()) for name, value in pairs]
            await one({"type": "websocket", "path": "/_stcore/stream", "headers": headers}, receive, send)

        tasks = [asyncio.ensure_future(opened(number)) for number in range(len(cookies))]
        await tasks[-1]
        await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        return told

    accepted = ["websocket.accept", "websocket.send"]
    told = asyncio.run(open_sockets(gate(), "person=1", "x=1", "x=2", "person=2"))
    assert told == [accepted, [*accepted, 1013], accepted, accepted]
    told = asyncio.run(open_sockets(gate(), *["person=1"] * 3, "person=2"))
    assert told == [accepted, accepted, accepted, [1008]]


def test_uploads_are_judged_by_what_all_hold_before_anything_is_read(monkeypatch):
    monkeypatch.setattr(gates, "has_room", lambda session, arriving: arriving == {session: 1000, "other": 7})
    one = gate()
    one.arriving["other"] = 7
    path = "/_stcore/upload_file/mine/file"
    sizes = {"1000": 200, "1001": 413, "": 411, "-1": 411, "1e3": 411}
    found = {size: asked(one, path, HOST, ("content-length", size), method="PUT")[0]["status"] for size in sizes}
    assert found == sizes
    assert one.arriving == {"other": 7}, "what has arrived is no longer on its way"
