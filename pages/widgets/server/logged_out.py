"""Log-ins that were ended. Streamlit only has the browser forget its cookie; other tabs, and copies, would go on."""

import hashlib
import re
from collections import OrderedDict
from collections.abc import Mapping

import streamlit as st
from streamlit.web.server.starlette.starlette_app_utils import decode_signed_value

USER_COOKIE = "_streamlit_user"
_PART = re.compile(rf"{USER_COOKIE}(_\d+)?")
"""A log-in of many claims takes several cookies: the first then says how many, and the others what."""
MOST = 100_000
_ended: OrderedDict[str, None] = OrderedDict()


def note_logged_out(cookies: Mapping[str, str]) -> None:
    """Until this server is started anew; the token within expires by itself. What this server did not sign is passed
    over, for anybody could send enough of it to have the rest forgotten."""
    for name, cookie in _parts(cookies).items():
        if _is_signed(name, cookie):
            _ended[_digest(name, cookie)] = None
    while len(_ended) > MOST:
        _ended.popitem(last=False)


def is_logged_out(cookies: Mapping[str, str]) -> bool:
    """Whether any part of the log-in was ended: parts of several could be put together."""
    return any(_digest(name, cookie) in _ended for name, cookie in _parts(cookies).items())


def _parts(cookies: Mapping[str, str]) -> dict[str, str]:
    return {name: cookie.strip('"') for name, cookie in cookies.items() if _PART.fullmatch(name)}


def _is_signed(name: str, cookie: str) -> bool:
    secret = cookie_secret()
    return bool(secret) and decode_signed_value(secret, name, cookie.encode("latin-1", "replace")) is not None


def cookie_secret() -> str:
    """With which Streamlit signs what it tells the browser of a log-in; '' where nobody logs in."""
    if not st.secrets.load_if_toml_exists() or "auth" not in st.secrets:
        return ""
    return str(st.secrets["auth"].get("cookie_secret", ""))


def _digest(name: str, cookie: str) -> str:
    return hashlib.sha256(f"{name}={cookie}".encode()).hexdigest()
