"""The shelf: a curator publishes a release, a steward withdraws it, everyone chooses from it and keeps the choice."""

import streamlit as st

from pages.widgets.budgets import confirmed
from pages.widgets.guard import guarded
from pages.widgets.person import may
from pages.widgets.session import active_calibration, open_ledger, set_active_calibration, warn_of_other_model
from pages.widgets.text import as_text
from ppsets_core import Calibration, LedgerError
from ppsets_core.access import CURATOR, STEWARD
from ppsets_core.ledger import Published, Release
from ppsets_core.wording import describe, guarantee

ADDRESS = "release"
"""The parameter of the address that names the release in use by its number, so that a reload finds it again."""
_CHOICE = "shelf_choice"
PUBLISH = "Everyone who may see this app can then choose it on Diagnose. A steward can withdraw it."
WITHDRAW = "Nobody can choose it any more, and sessions that use it stop. Downloaded copies stay where they are."
WITHDRAWN = "The calibration in use was withdrawn by a steward. Choose another one."


def keep_choice() -> None:
    """Take up the release that the address names, drop one that was withdrawn, and name the one in use."""
    try:
        shelf = {str(one.release): one for one in open_ledger().published()}
    except LedgerError:
        return  # the screen itself says what is wrong with the ledger
    chosen = st.session_state.get(_CHOICE)
    if chosen is not None and chosen not in shelf:
        del st.session_state[_CHOICE]
        set_active_calibration(None, "")
        st.warning(WITHDRAWN, icon=":material/block:")
    if active_calibration() is None and (asked := st.query_params.get(ADDRESS)) in shelf:
        _use(shelf[asked])
    in_use = next((number for number, one in shelf.items() if one.calibration == active_calibration()), None)
    if in_use is None:
        st.session_state.pop(_CHOICE, None)
        st.query_params.pop(ADDRESS, None)
    elif st.query_params.get(ADDRESS) != in_use:
        st.query_params[ADDRESS] = in_use


@guarded()
def choose_from_shelf() -> None:
    """Offer what is published; nothing where the shelf is empty."""
    if not (shelf := open_ledger().published()):
        return
    with st.container(border=True, key="shelf"):
        one = st.selectbox("Published calibrations", shelf, format_func=_title, key="shelf_pick")
        st.caption(as_text(f"{guarantee(one.calibration)} Published on {one.time[:10]}."))
        warn_of_other_model(one.calibration)
        if st.button("Use this calibration", key="use_published", type="primary"):
            _use(one)
            st.rerun()


@guarded()
def publish_step(release: Release) -> None:
    """Publish a release of one's own or, for a steward, take one off the shelf."""
    ledger = open_ledger()
    is_published = release.id in [one.release for one in ledger.published()]
    if is_published:
        st.badge("Published", icon=":material/shelves:", color="blue")
    if not may(STEWARD if is_published else CURATOR):
        return
    verb, words = ("Withdraw", WITHDRAW) if is_published else ("Publish", PUBLISH)
    reason = confirmed(f"{verb} …", words, f"{verb} release {release.id}", f"shelf_{verb}_{release.id}")
    if reason is not None:
        (ledger.withdraw if is_published else ledger.publish)(release, reason=reason)
        st.rerun()


def release_title(number: int, name: str, calibration: Calibration) -> str:
    return f"No. {number}, {name}: {describe(calibration)}"


def _title(one: Published) -> str:
    return release_title(one.release, str(one.calibration.dataset), one.calibration)


def _use(one: Published) -> None:
    set_active_calibration(one.calibration, f"{one.calibration.dataset}, release {one.release}")
    st.session_state[_CHOICE] = str(one.release)
