"""Who uses this browser session, where people log in; else it is the one user of this machine."""

from collections.abc import Callable, Mapping

import streamlit as st

from pages.widgets.server.login import is_logged_out, login_redirect
from pages.widgets.text import as_text
from ppsets_core.access import CURATOR, STEWARD, VIEWER, Person, RoleRules
from ppsets_core.errors import AccessError

OPEN_TO = {"calibrate": (CURATOR,), "ledger": (CURATOR, STEWARD)}
"""Which roles open a screen; those that are not named are open to every role."""
NO_ROLE = "You are logged in, but have no role here. Ask the administrator of this server for one."
WELCOME = "Private prediction sets for chest X-rays. Log in to go on."


def login_is_configured() -> bool:
    return login_redirect() is not None


def bearer() -> Callable[[], Person]:
    """Return a function that looks up who is logged in to this session; it may be called at any time, from any thread.

    What is returned raises AccessError where nobody is, or where they have logged out since."""
    claims, cookies = _claims(), dict(st.context.cookies)
    rules = RoleRules.of(st.secrets["roles"].to_dict() if "roles" in st.secrets else {})

    def somebody() -> Person:
        if not claims.get("is_logged_in") or is_logged_out(cookies):
            raise AccessError("You are not logged in, or no longer. Nothing was charged or changed.")
        return rules.person(claims)

    return somebody


def person() -> Person:
    return bearer()()


def may(*roles: str) -> bool:
    """For screens that leave out what they would refuse; who may spend is decided by the ledger, at the charge."""
    if not login_is_configured():
        return True
    try:
        somebody = person()
        somebody.check(VIEWER)
    except AccessError:
        return False
    return any(somebody.has(role) for role in roles)


def may_open(screen: str) -> bool:
    return may(*OPEN_TO.get(screen, (VIEWER,)))


def first_budget() -> str:
    """Where a data set's budget comes from, for a ledger without any."""
    if login_is_configured():
        return "A steward opens an account with a budget for each data set."
    return "A data set gets its budget with its first calibration."


def why_label() -> str:
    """For the question why something is spent or raised: where people log in, the ledger insists on an answer."""
    return "Why" if login_is_configured() else "Why (optional)"


def admitted() -> bool:
    """True where the screens may be shown: else what to do instead is shown here."""
    if not login_is_configured():
        return True
    claims = _claims()
    if not claims.get("is_logged_in"):
        _offer_login(WELCOME, "Log in")
        return False
    try:
        somebody = person()
    except AccessError as error:
        st.session_state.clear()
        _offer_login(str(error), "Log in")
        return False
    if somebody.is_expired():
        st.session_state.clear()
        _offer_login("Your log-in has expired. What you had opened here is gone with it.", "Log in again")
        return False
    if not somebody.roles:
        st.title("ppsets")
        st.info(NO_ROLE)
        show_person()
        return False
    return True


def show_person() -> None:
    """Name, roles and the way out; nothing where nobody logs in."""
    if not login_is_configured():
        return
    somebody, claims = person(), _claims()
    name = claims.get("name") or claims.get("email") or somebody.subject
    roles = ", ".join(sorted(somebody.roles)) or "no role"
    st.markdown(f":small[{as_text(f'Logged in as {name}: {roles}.')}]")
    st.button("Log out", key="log_out", icon=":material/logout:", on_click=st.logout)


def _offer_login(why: str, label: str) -> None:
    st.title("ppsets")
    st.write(why)
    st.button(label, key="log_in", type="primary", icon=":material/login:", on_click=st.login)


def _claims() -> Mapping[str, object]:
    return st.user.to_dict()
