"""Which media files each browser may open. Their names come from their content, so a name must open nothing."""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field

# Streamlit names a file by a hash of its content; 32 digits of it tell it from any other.
_NAMED = re.compile(rb"media/([0-9a-f]{32})")
KEPT_SECONDS = 600.0
"""A browser that lost its connection, and comes back, knows its pictures still."""


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
