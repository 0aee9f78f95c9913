"""Where the app listens: on this machine only, unless people log in."""

import ipaddress
from functools import cache
from urllib.parse import urlsplit

import streamlit as st

from ppsets_core import InputError

HERE = "localhost"


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
