"""Who may reach the app: this machine only, unless people log in; and log-ins that were ended."""

import hashlib
import ipaddress
import re
from collections import OrderedDict
from collections.abc import Mapping
from functools import cache
from urllib.parse import urlsplit

import streamlit as st

from pages.widgets.streamlit_parts import decode_signed_value
from ppsets_core import InputError

HERE = "localhost"
USER_COOKIE = "_streamlit_user"
_PART = re.compile(rf"{USER_COOKIE}(_\d+)?")
"""A log-in of many claims takes several cookies: the first then says how many, and the others what."""
MOST = 100_000
_ended: OrderedDict[str, None] = OrderedDict()


def hosts() -> list[str]:
    """The names under which browsers may know this app; raises InputError where it would be open to strangers."""
    names: list[str] = st.get_option("server.allowedHosts") or [HERE]
    if any("*" in name for name in names):
        raise InputError("server.allowedHosts must name every host in full, without *. See docs/deploy.md.")
    if st.get_option("server.trustedUserHeaders"):
        raise InputError("server.trustedUserHeaders must be empty: people log in by OpenID Connect, not by a header.")
    redirect = login_redirect()
    reachable = [st.get_option("server.address"), *names]
    if redirect is None and not all(map(is_local, reachable)):
        raise InputError(
            "Without a log-in this app listens on localhost only: whoever reaches it may read and spend everything. "
            "Leave server.address and server.allowedHosts as they are, or configure a log-in first (docs/deploy.md)."
        )
    if redirect is not None and (name := urlsplit(redirect).hostname or "") not in names:
        raise InputError(
            f"People log in at '{name}', so server.allowedHosts must name it: for instance by the environment variable "
            f"STREAMLIT_SERVER_ALLOWED_HOSTS={name} (docs/deploy.md)."
        )
    return names


@cache
def login_redirect() -> str | None:
    """Where people come back to after logging in, as secrets.toml says; None where no log-in is configured.

    Settled when the server starts: a file that is lost later opens nothing."""
    if not st.secrets.load_if_toml_exists() or "auth" not in st.secrets:
        return None
    return str(st.secrets["auth"].get("redirect_uri", ""))


def is_local(address: str | None) -> bool:
    """Whether nobody but this machine can reach a server at this address; none means all addresses."""
    try:
        return address == HERE or ipaddress.ip_address(address or "0.0.0.0").is_loopback
    except ValueError:
        return False


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
