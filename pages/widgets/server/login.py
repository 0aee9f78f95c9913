"""Who may reach the app: this machine only, unless people log in; who a cookie says they are; log-ins that ended."""

import hashlib
import json
import os
import re
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from functools import cache

import streamlit as st

from pages.widgets.streamlit_parts import decode_signed_value, get_cookie_with_chunks
from ppsets_core import InputError
from ppsets_core.access import VIEWER
from ppsets_core.errors import AccessError
from ppsets_core.server_check import LOCALHOST, LoginSettings, is_local, read_secrets

USER_COOKIE = "_streamlit_user"
_PART = re.compile(rf"{USER_COOKIE}(_\d+)?")
"""A log-in of many claims takes several cookies: the first then says how many, and the others what."""
MOST_ENDED = 100_000
_ended: OrderedDict[str, None] = OrderedDict()


def hosts() -> list[str]:
    """The names under which browsers may know this app; raises InputError where it would be open to strangers."""
    names: list[str] = st.get_option("server.allowedHosts") or [LOCALHOST]
    if any("*" in name for name in names):
        raise InputError("server.allowedHosts must name every host in full, without *. See docs/deploy.md.")
    if st.get_option("server.trustedUserHeaders"):
        raise InputError("server.trustedUserHeaders must be empty: people log in by OpenID Connect, not by a header.")
    settings = login_settings()
    reachable = [st.get_option("server.address"), *names]
    if settings is None and not all(map(is_local, reachable)):
        raise InputError(
            "Without a log-in this app listens on localhost only: whoever reaches it may read and spend everything. "
            "Leave server.address and server.allowedHosts as they are, or configure a log-in first (docs/deploy.md)."
        )
    if settings is not None and settings.host not in names:
        raise InputError(
            f"People log in at '{settings.host}', so server.allowedHosts must name it: for instance by the environment "
            f"variable STREAMLIT_SERVER_ALLOWED_HOSTS={settings.host} (docs/deploy.md)."
        )
    return names


@cache
def login_settings() -> LoginSettings | None:
    """How people log in, as secrets.toml says; None where no log-in is configured.

    Settled when the server starts: a file that is lost later opens nothing."""
    must_exist = "STREAMLIT_SECRETS_FILES" in os.environ
    return LoginSettings.of(read_secrets(st.get_option("secrets.files"), must_exist=must_exist))


def admits(cookies: Mapping[str, str]) -> bool:
    """Whether a request with these cookies may go beyond the log-in: nobody logs in here, or somebody with a role is
    logged in by them, now."""
    if (settings := login_settings()) is None:
        return True
    try:
        signed = get_cookie_with_chunks(lambda name: _payload(name, cookies.get(name, "")), USER_COOKIE)
        claims = json.loads(signed or "{}")
        settings.rules.person(claims).check(VIEWER)
    except (AccessError, ValueError):
        return False
    return bool(claims.get("is_logged_in")) and not is_logged_out(cookies)


def note_logged_out(cookies: Mapping[str, str]) -> None:
    """Until this server restarts; the token within expires by itself."""
    for content in _signed_contents(cookies):
        _ended[content] = None
    while len(_ended) > MOST_ENDED:
        _ended.popitem(last=False)


def is_logged_out(cookies: Mapping[str, str]) -> bool:
    """Whether any part of the log-in was ended: parts of several could be put together."""
    return any(content in _ended for content in _signed_contents(cookies))


def _signed_contents(cookies: Mapping[str, str]) -> Iterator[str]:
    """Digests of what this server signed in each part of a log-in, the time included.

    Not the cookies' letters: a signature has many spellings that verify. What it did not sign is passed over, for
    anybody could send enough of it to have the rest forgotten."""
    for name, cookie in cookies.items():
        if _PART.fullmatch(name) and _payload(name, cookie) is not None:
            yield hashlib.sha256(f"{name}={cookie.rpartition('.')[0]}".encode()).hexdigest()


def _payload(name: str, cookie: str) -> bytes | None:
    """What the server signed under this name; None where it did not sign this."""
    settings = login_settings()
    signed = cookie.encode("latin-1", "replace")
    return None if settings is None else decode_signed_value(settings.cookie_secret, name, signed)
