"""Who uses this browser session, where people log in; else it is the one user of this machine."""

from collections.abc import Callable, Mapping

import streamlit as st

from pages.widgets.server.login import is_logged_out, login_settings
from pages.widgets.text import as_text
from ppsets_core.access import CURATOR, STEWARD, VIEWER, Person, RoleRules
from ppsets_core.diagnose.review import KeptMarks, Marks
from ppsets_core.errors import AccessError
from ppsets_core.progress import duration

OPEN_TO = {"calibrate": (CURATOR,), "ledger": (CURATOR, STEWARD)}
"""Which roles open a screen; those that are not named are open to every role."""
NO_ROLE = "You are logged in, but have no role here. Ask the administrator of this server for one."
NO_CLAIM = "Your log-in has no claim '{}', which roles come from here. Ask the administrator of this server to add it."
EXPIRED = "Your log-in has expired. Log in again; your review marks are kept for X-rays that you open again."
ENDS_SOON = "Your log-in ends in {}. Finish or download your work, then log out and in again. Review marks are kept."
WARNED_SECONDS, LOOKED_UP_EVERY = 300, 30
WELCOME = "Private prediction sets for chest X-rays. Log in to go on."


def login_is_configured() -> bool:
    return login_settings() is not None


def bearer() -> Callable[[], Person]:
    """Return a function that looks up who is logged in to this session; it may be called at any time, from any thread.

    What is returned raises AccessError where nobody is, or where they have logged out since."""
    claims, cookies = _claims(), dict(st.context.cookies)
    rules = _rules()

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
        _offer_login(EXPIRED, "Log in again")
        return False
    if not somebody.roles:
        st.title("ppsets")
        st.info(NO_ROLE if _rules().is_claimed(claims) else as_text(NO_CLAIM.format(_rules().claim)))
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
    _warn_before_expiry(somebody)


@st.fragment(run_every=LOOKED_UP_EVERY)
def _warn_before_expiry(somebody: Person) -> None:
    """By a timer; once the time is up it draws nothing, for the gate then has the whole app run instead."""
    if somebody.seconds_left < WARNED_SECONDS:
        st.warning(ENDS_SOON.format(duration(max(0, somebody.seconds_left))), icon=":material/timer:")


def marks_of_person() -> Marks:
    """Review marks that a person finds again after their next log-in; new ones where nobody logs in."""
    return _kept_marks().of((person().issuer, person().subject)) if login_is_configured() else Marks()


@st.cache_resource(show_spinner=False)
def _kept_marks() -> KeptMarks:
    return KeptMarks()


def _rules() -> RoleRules:
    """Without a log-in nobody is asked for a role, and nobody has one."""
    settings = login_settings()
    return RoleRules.of({}) if settings is None else settings.rules


def _offer_login(why: str, label: str) -> None:
    st.title("ppsets")
    st.write(why)
    st.button(label, key="log_in", type="primary", icon=":material/login:", on_click=st.login)


def _claims() -> Mapping[str, object]:
    return st.user.to_dict()
