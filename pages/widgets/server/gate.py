"""The gate before every request: right host, own pages only, no frames, media only for whom they were shown to, and for
who is not logged in nothing but the way to log in.

Streamlit checks hosts and origins at its socket alone, and asks the internet for its own address where an origin is
foreign. It takes uploads from anybody, and draws a fragment without asking whom it is for. Nothing of it gets that far.
"""

import asyncio
import re
import secrets
from collections import Counter
from collections.abc import Iterable

from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pages.widgets.server.login import admits, note_logged_out
from pages.widgets.streamlit_parts import as_a_strangers, has_room
from ppsets_core.web import HEADERS, MediaAccess, host_name, is_foreign

BROWSER = "ppsets_browser"
BEFORE_A_SOCKET = "/_stcore/host-config"
"""What every page asks for once, before it opens its socket."""
MONTH = 30 * 24 * 3600
CLOSED = ("/_stcore/agent", "/_stcore/metrics")
"""Driving the app without a browser, and how much each part of it holds: offered by Streamlit, and not by us."""
UPLOADS = re.compile(r"/_stcore/upload_file/([^/]+)/[^/]+")
MOST_SOCKETS = 200
"""Browser tabs that are open at a time, of all people together."""
_OURS = [(name.encode(), value.encode()) for name, value in HEADERS.items()]


class Gate:
    """ASGI middleware around the whole app; `hosts` are the names under which browsers may know it."""

    def __init__(self, app: ASGIApp, hosts: Iterable[str], base: str = "") -> None:
        self.app = app
        self.hosts = frozenset(host.lower() for host in hosts)
        self.base = f"/{base.strip('/')}".rstrip("/")
        self.media = MediaAccess()
        self.arriving: Counter[str] = Counter()
        self.sockets: dict[asyncio.Task | None, dict[str, str]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._http(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._websocket(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers, path = _headers(scope), scope["path"].removeprefix(self.base)
        cookies = cookie_parser(headers.get("cookie", ""))
        browser, upload = _browser(cookies), UPLOADS.fullmatch(path)
        is_media = path.startswith("/media/")
        if not self._is_for_us(headers) or is_foreign(scope["method"], headers):
            await _refuse(send, 403)
        elif path.startswith(CLOSED) or (is_media and not (self.media.knows(browser, path) and admits(cookies))):
            await _refuse(send, 404)
        elif upload and not admits(cookies):
            await _refuse(send, 403)
        elif upload and scope["method"] == "PUT":
            await self._upload(upload[1], headers.get("content-length", ""), scope, receive, send)
        else:
            if path == "/auth/logout":
                note_logged_out(cookies)
            is_new = browser is None and path == BEFORE_A_SOCKET
            await self.app(scope, receive, _sealed(send, _new_cookie(scope["scheme"]) if is_new else None))

    async def _upload(self, session: str, size: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Judged before anything of it is read, with all that is on its way: the server would hold it all."""
        if not size.isdecimal():
            await _refuse(send, 411)
        elif not has_room(session, self.arriving + Counter({session: int(size)})):
            await _refuse(send, 413)
        else:
            self.arriving[session] += int(size)
            try:
                await self.app(scope, receive, _sealed(send, None))
            finally:
                self.arriving = self.arriving - Counter({session: int(size)})

    async def _websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = _headers(scope)
        cookies = cookie_parser(headers.get("cookie", ""))
        if not self._is_for_us(headers) or not headers.get("origin") or not self._makes_room():
            await receive()
            await send({"type": "websocket.close", "code": 1008})
            return
        browser = _browser(cookies)

        async def hearing() -> Message:
            while True:
                message = await receive()
                if message["type"] != "websocket.receive" or admits(cookies):
                    return message
                if (heard := as_a_strangers(message.get("bytes") or b"")) is not None:
                    return {**message, "bytes": heard}

        async def noting(message: Message) -> None:
            if browser is not None and message["type"] == "websocket.send" and message.get("bytes"):
                self.media.sent(browser, message["bytes"])
            await send(message)

        task = asyncio.current_task()
        self.sockets[task] = cookies
        if browser is not None:
            self.media.connected(browser)
        try:
            await self.app(scope, hearing, noting)
        except asyncio.CancelledError:
            if task in self.sockets:
                raise
            await send({"type": "websocket.close", "code": 1013})
        finally:
            self.sockets.pop(task, None)
            if browser is not None:
                self.media.disconnected(browser)

    def _makes_room(self) -> bool:
        """Whether one more socket may open; where there are enough, the oldest of somebody not logged in is closed."""
        if len(self.sockets) < MOST_SOCKETS:
            return True
        for task, cookies in self.sockets.items():
            if task is not None and not admits(cookies):
                del self.sockets[task]
                return task.cancel()
        return False

    def _is_for_us(self, headers: dict[str, str]) -> bool:
        """One of our names is asked, and the page that asks, where the browser names it, has that name, too."""
        host, origin = headers.get("host", ""), headers.get("origin")
        return host_name(host) in self.hosts and origin in (None, "", f"http://{host}", f"https://{host}")


def _headers(scope: Scope) -> dict[str, str]:
    """By lower-case name; one that is given twice is joined, and so is none that we know."""
    found: dict[str, str] = {}
    for raw, value in scope["headers"]:
        name, text = raw.decode("latin-1").lower(), value.decode("latin-1")
        found[name] = f"{found[name]}; {text}" if name in found else text
    return found


def _browser(cookies: dict[str, str]) -> str | None:
    """The random name that the gate gave to this browser."""
    found = cookies.get(BROWSER)
    return found if found and re.fullmatch(r"[0-9a-f]{64}", found) else None


def _sealed(send: Send, cookie: bytes | None) -> Send:
    """Adds our headers to the answer, and the cookie."""

    async def sealed(message: Message) -> None:
        if message["type"] == "http.response.start":
            given = [
                (name, value) for name, value in message.get("headers", ()) if name.decode().lower() not in HEADERS
            ]
            given += _OURS if cookie is None else [*_OURS, (b"set-cookie", cookie)]
            message = {**message, "headers": given}
        await send(message)

    return sealed


def _new_cookie(scheme: str) -> bytes:
    secure = "; Secure" if scheme == "https" else ""
    return f"{BROWSER}={secrets.token_hex(32)}; Path=/; Max-Age={MONTH}; HttpOnly; SameSite=Lax{secure}".encode()


async def _refuse(send: Send, status: int) -> None:
    headers = [*_OURS, (b"content-type", b"text/plain"), (b"content-length", b"0")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": b""})
