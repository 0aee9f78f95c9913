"""The step that spends: which account pays, a confirm step that names it, one charge, and the result."""

from dataclasses import replace
from typing import Literal

import streamlit as st

from pages.widgets.calibrate.data_set_source import COUNTING, start_counting, stop_counting
from pages.widgets.calibrate.pending_release import PendingRelease
from pages.widgets.calibrate.reading import Reading
from pages.widgets.calibrate.registry import offer_registry_entry
from pages.widgets.calibration_card import show_calibration
from pages.widgets.choose_account import choose_account, in_words
from pages.widgets.jobs import collect, is_running, show_progress
from pages.widgets.ledger.raise_budget import RAISE
from pages.widgets.person import why_label
from pages.widgets.session import open_ledger, set_active_calibration
from pages.widgets.settings import apply_epsilon
from pages.widgets.text import as_text
from ppsets_core import Account, Ledger, Plan, PpsetsError, Records
from ppsets_core.data.counting import Chosen, Counted
from ppsets_core.ledger.amounts import amount, shown
from ppsets_core.ledger.cohort import MOST
from ppsets_core.ledger.ledger import LONGEST_REASON
from ppsets_core.method.plan import at_epsilon
from ppsets_core.wording import describe

_PENDING, _RELEASED = "pending", "released"
REASON_HELP = "Kept in the ledger and its exports, with the release; it must name no patient."
WHOLE = (
    f"More than {MOST:,} records are too many to count one by one: the ledger counts this data set as a whole, by its "
    "name and as it is, and does not notice patients that it shares with others."
)
SEVERAL = "ε protects one record: a patient with several records loses up to several times as much."


def release_step(reading: Reading, records: Records | Chosen, planned: Plan, budget: float) -> None:
    """From the account to the calibration. Ends in a rerun of the whole app when a release was drawn."""
    ledger = open_ledger()
    _finish(st.session_state.get(_PENDING))
    released: PendingRelease | None = st.session_state.get(_RELEASED)
    here = released.calibration if released is not None and released.is_of(reading.id, records) else None
    if released is not None and here is not None:
        with st.container(border=True, key="result"):
            st.markdown("**Your calibration**")
            show_calibration(here, released.account.name, key="released")
            offer_registry_entry(here, key="released")
        st.markdown("**Another release from these records**")
    account = choose_account(ledger, reading.name, budget, key=reading.id)
    if account is not None and planned.is_trivial:
        st.info("There is nothing to spend on yet: with this α and ε the chosen rule has too few records, see above.")
    elif account is not None and not account.can_pay(planned.epsilon):
        _over_budget(planned, account)
    elif account is not None:
        if amount(planned.epsilon) > account.left:
            _little_left(planned, account)
        _ask(ledger, PendingRelease(reading.id, records, planned, account))
    if account is not None and not account.is_new and here is None:
        _offer_earlier(ledger, PendingRelease(reading.id, records, planned, account))


def is_counting(reading: Reading | None) -> bool:
    """While a data set is counted for a release that was confirmed, its progress is all there is to see; then, and not
    before, it is charged. Whoever turns to other records has given it up."""
    pending: PendingRelease | None = st.session_state.get(_PENDING)
    if pending is not None and (reading is None or pending.reading != reading.id):
        stop_counting()
        return False
    if is_running(COUNTING):
        st.subheader("3 · Spend and calibrate")
        show_progress(COUNTING, "Pieces counted, nothing is charged yet:")
        return True
    try:
        counted = collect(COUNTING)
    except PpsetsError as error:
        counted = None
        if pending is not None:
            pending.refusal = str(error)
    if counted is not None and pending is not None:
        paying = replace(pending, records=counted)
        paying.spend(open_ledger())
        pending.refusal, pending.calibration = paying.refusal, paying.calibration
    return False


def _ask(ledger: Ledger, wanted: PendingRelease) -> None:
    pending: PendingRelease | None = st.session_state.get(_PENDING)
    named = pending is not None and pending.is_for(wanted)
    if pending is not None and pending.refusal and named:
        st.error(as_text(pending.refusal))
    if pending is None or pending.refusal or not named:
        first = st.session_state.get(_RELEASED) is None
        kind: Literal["primary", "secondary"] = "primary" if first else "secondary"
        st.button("Calibrate …", type=kind, key="calibrate", on_click=_open, args=(wanted,))
        return
    with st.container(border=True, key="confirm"):
        st.markdown(
            f"**Spend ε = {pending.plan.epsilon:g} of the budget of {as_text(pending.account.name)}?** "
            f"{in_words(pending.account)}. Everyone in these records loses ε = {pending.plan.epsilon:g}. If that is "
            "more than someone has left, after all releases under whatever name, nothing is released and nothing "
            "charged. A release cannot be taken back; it can be used as often as you like."
        )
        if len(pending.records) > MOST:
            st.warning(WHOLE)
        of = wanted.records
        if not isinstance(of, Counted) and of.has_patients and of.unit == "record":
            st.warning(SEVERAL)
        pending.reason = st.text_input(
            why_label(), max_chars=LONGEST_REASON, key=f"reason_{pending.request}", help=REASON_HELP
        )
        with st.container(horizontal=True):
            confirmed = st.button(
                f"Spend ε = {pending.plan.epsilon:g} and calibrate", type="primary", key=f"spend_{pending.request}"
            )
            st.button("Cancel", key="cancel_pending", on_click=_close)
    if confirmed and isinstance(pending.records, Chosen):
        start_counting(pending.records, pending.plan, ledger)
        st.rerun()
    if confirmed:
        pending.spend(ledger)
        _finish(pending)
        st.rerun()


def _finish(pending: PendingRelease | None) -> None:
    """Take over a release that was drawn. Each line may be interrupted by a click; the next run then repeats them."""
    if pending is None or pending.calibration is None:
        return
    set_active_calibration(pending.calibration, pending.account.name)
    st.session_state[_RELEASED] = pending
    _close()
    st.rerun()


def _open(pending: PendingRelease) -> None:
    st.session_state[_PENDING] = pending


def _close() -> None:
    st.session_state.pop(_PENDING, None)


def _over_budget(planned: Plan, account: Account) -> None:
    st.warning(
        f"ε = {planned.epsilon:g} is more than the whole budget of {shown(account.budget)} for "
        f"{as_text(account.name)}. Choose a smaller ε, or "
        + ("set a larger budget above." if account.is_new else "have the budget raised on Ledger.")
    )
    _ways_out(planned, account)


def _little_left(planned: Plan, account: Account) -> None:
    """Others may be in these records than in those before: only the charge can tell."""
    st.warning(
        f"Releases under this name have cost {shown(account.spent)} of {shown(account.budget)}, so whoever was in all "
        f"of them has {shown(account.left)} left. If one of them is in these records, ε = {planned.epsilon:g} will be "
        "refused. Refusals are recorded."
    )
    _ways_out(planned, account)


def _ways_out(planned: Plan, account: Account) -> None:
    with st.container(horizontal=True):
        if account.left > 0 and not at_epsilon(planned, float(account.left)).is_trivial:
            st.button(
                f"Use ε = {shown(account.left)}", key="apply_left", on_click=apply_epsilon, args=(float(account.left),)
            )
        if not account.is_new and st.button("Go to Ledger", key="to_ledger"):
            st.session_state[RAISE] = account.name
            st.switch_page("pages/ledger.py")


def _offer_earlier(ledger: Ledger, wanted: PendingRelease) -> None:
    """A release can be used again for nothing, also after a reload lost it from the screen."""
    name = wanted.account.name
    earlier = [
        r.calibration for r in ledger.releases(name) if r.calibration is not None and wanted.is_like(r.calibration)
    ]
    if not earlier:
        return
    last = earlier[-1]
    st.caption(as_text(f"Last release of '{name}': {describe(last, last.unit)}. Using it again costs nothing."))
    if st.button("Use the last release again", key="reuse"):
        _finish(replace(wanted, calibration=last))
