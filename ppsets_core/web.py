"""What a browser's request says of itself, what every answer says to browsers, and which files each was told of.

Knows HTTP's headers, and no web framework.
"""

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

# Streamlit's pages need inline styles and scripts; that they may talk to nobody else holds without exception.
POLICY = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "worker-src 'self' blob:",
        "object-src 'none'",
        "base-uri 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}
# Streamlit names a file by a hash of its content; 32 digits of it tell it from any other.
_NAMED = re.compile(rb"media/([0-9a-f]{32})")
KEPT_SECONDS = 600.0
"""A browser that lost its connection, and comes back, knows its pictures still."""


def host_name(host: str) -> str:
    """The name of a Host header without its port, as one writes it; "" if it is none."""
    if not re.fullmatch(r"[\w.-]+(:\d{1,5})?|\[[0-9a-fA-F:]+\](:\d{1,5})?", host):
        return ""
    return (urlsplit(f"//{host}").hostname or "").rstrip(".")


def is_foreign(method: str, headers: Mapping[str, str]) -> bool:
    """Whether another site's page asks. Following a link to us is all that it may do."""
    if headers.get("sec-fetch-site", "none") in ("none", "same-origin"):
        return False
    goes_there = (headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")) == ("navigate", "document")
    return method not in ("GET", "HEAD") or not goes_there


@dataclass
class _Browser:
    files: set[bytes] = field(default_factory=set)
    sockets: int = 0
    left: float = 0.0


class MediaAccess:
    """Keeps what was sent to each browser over its own sockets, and forgets a browser some time after its last."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._browsers: dict[str, _Browser] = {}

    def connected(self, browser: str) -> None:
        self._forget()
        self._browsers.setdefault(browser, _Browser()).sockets += 1

    def disconnected(self, browser: str) -> None:
        known = self._browsers[browser]
        known.sockets, known.left = known.sockets - 1, self._clock()

    def sent(self, browser: str, message: bytes) -> None:
        """Note every file that a message of the server names."""
        if b"media/" in message:
            self._browsers[browser].files.update(_NAMED.findall(message))

    def knows(self, browser: str | None, path: str) -> bool:
        """Whether this browser was told of the file at this path."""
        self._forget()
        known = self._browsers.get(browser) if browser else None
        named = _NAMED.search(path.encode())
        return known is not None and named is not None and named[1] in known.files

    def _forget(self) -> None:
        until = self._clock() - KEPT_SECONDS
        gone = [name for name, one in self._browsers.items() if one.sockets == 0 and one.left < until]
        for name in gone:
            del self._browsers[name]
