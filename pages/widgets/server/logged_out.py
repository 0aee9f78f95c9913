"""Log-ins that were ended. Streamlit only has the browser forget its cookie; other tabs, and copies, would go on."""

import hashlib
from collections import OrderedDict
from collections.abc import Mapping

USER_COOKIE = "_streamlit_user"
MOST = 100_000
_ended: OrderedDict[str, None] = OrderedDict()


def note_logged_out(cookie: str) -> None:
    """Until this server is started anew; the token within expires by itself."""
    _ended[_digest(cookie)] = None
    while len(_ended) > MOST:
        _ended.popitem(last=False)


def is_logged_out(cookies: Mapping[str, str]) -> bool:
    cookie = cookies.get(USER_COOKIE)
    return cookie is not None and _digest(cookie) in _ended


def _digest(cookie: str) -> str:
    return hashlib.sha256(cookie.strip('"').encode()).hexdigest()
