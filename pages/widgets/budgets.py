"""Opening an account and raising a budget: both for good, and on record."""

from collections.abc import Sequence

import streamlit as st

from pages.widgets.person import login_is_configured, may, why_label
from pages.widgets.text import as_text
from ppsets_core import Account, Ledger
from ppsets_core.access import STEWARD
from ppsets_core.ledger.amounts import amount, shown
from ppsets_core.ledger.ledger import LONGEST_REASON
from ppsets_core.wording import weak_budget

_ASKED, _OPENED, _RAISED = "budget_asked", "account_opened", "budget_raised"
RAISE = "raise_name"
"""Names the data set that is raised; set it to open Ledger on one."""


def open_account_step(ledger: Ledger) -> None:
    if not (login_is_configured() and may(STEWARD)):
        return
    if said := st.session_state.pop(_OPENED, ""):
        st.success(as_text(said))
    with st.expander("Open an account"), st.form("open_account", clear_on_submit=False, border=False):
        left, right = st.columns(2)
        name = left.text_input(
            "Name of the data set",
            max_chars=100,
            help="Curators charge the account by this name, so tell them. It must name no patient.",
        )
        budget = right.number_input("Budget", min_value=0.01, max_value=1e6, value=2.0, step=0.5, format="%g")
        reason = st.text_input(
            "Why", max_chars=LONGEST_REASON, help="Kept in the ledger and its exports, with your name."
        )
        if st.form_submit_button("Open the account"):
            opened = ledger.open_account(name, budget, reason=reason)
            st.session_state[_OPENED] = f"'{opened.name}' is open with a budget of {shown(opened.budget)}."
            st.rerun()


def raise_budget_step(ledger: Ledger, accounts: Sequence[Account]) -> None:
    if said := st.session_state.pop(_RAISED, ""):
        st.success(as_text(said))
    asked: tuple[str, str] | None = st.session_state.get(_ASKED)
    with st.expander("Raise a budget", expanded=asked is not None):
        st.write(
            "A larger budget lets more be released, and so more be learnt, about every patient of the data set. "
            "It stays in the ledger and cannot be lowered again."
        )
        by_name = {account.name: account for account in accounts}
        left, right = st.columns(2)
        first = list(by_name).index(_charged_last(ledger, accounts))
        name = left.selectbox("Data set to raise", list(by_name), first, key=RAISE, on_change=_close)
        account = by_name[name]
        budget = right.number_input(
            "New budget",
            min_value=0.01,
            value=float(account.budget) + 1,
            step=0.5,
            format="%g",
            key=f"raise_to_{name}",
            on_change=_close,
        )
        if warning := weak_budget(budget):
            st.warning(warning)
        if asked is None or asked[0] != name:
            st.button("Raise …", key="raise_open", on_click=_ask, args=(name, shown(amount(budget))))
        else:
            _confirm(ledger, account, asked[1])


def _charged_last(ledger: Ledger, accounts: Sequence[Account]) -> str:
    """The data set that someone is busy with: most likely the one whose budget is short."""
    releases = ledger.releases()
    return releases[-1].account if releases else accounts[0].name


def _confirm(ledger: Ledger, account: Account, budget: str) -> None:
    with st.container(border=True, key="confirm_raise"):
        st.markdown(
            f"**Raise the budget of {as_text(account.name)} from {shown(account.budget)} to {budget}?** "
            "It is recorded, and cannot be undone."
        )
        reason = st.text_input(
            why_label(),
            max_chars=LONGEST_REASON,
            key="raise_reason",
            help="Kept in the ledger and its exports; it must name no patient.",
        )
        with st.container(horizontal=True):
            confirmed = st.button(f"Raise to {budget}", type="primary", key=f"raise_{budget}")
            st.button("Cancel", key="raise_cancel", on_click=_close)
    if confirmed:
        _close()
        raised = ledger.raise_budget(account.name, budget, reason=reason)
        st.session_state[_RAISED] = f"The budget of '{raised.name}' is {shown(raised.budget)} now."
        st.rerun()


def _ask(name: str, budget: str) -> None:
    st.session_state[_ASKED] = (name, budget)


def _close() -> None:
    st.session_state.pop(_ASKED, None)
