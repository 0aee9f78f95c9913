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

NAME_HELP = "Curators charge the account by this name, so tell them. It must name no patient."
REASON_HELP = "Kept in the ledger and its exports; it must name no patient."
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
        name = left.text_input("Name of the data set", max_chars=100, help=NAME_HELP)
        budget = right.number_input("Budget", 0.01, 1e6, 2.0, 0.5, "%g")
        reason = st.text_input("Why", max_chars=LONGEST_REASON, help=REASON_HELP)
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
        releases = ledger.releases()
        first = list(by_name).index(releases[-1].account) if releases else 0  # its budget is most likely short
        name = left.selectbox("Data set to raise", list(by_name), first, key=RAISE, on_change=_close)
        account = by_name[name]
        value, key = float(account.budget) + 1, f"raise_to_{name}"
        budget = right.number_input("New budget", 0.01, None, value, 0.5, "%g", key, on_change=_close)
        if warning := weak_budget(budget):
            st.warning(warning)
        if asked is None or asked[0] != name:
            question = {_ASKED: (name, shown(amount(budget)))}
            st.button("Raise …", key="raise_open", on_click=st.session_state.update, args=(question,))
        else:
            _confirm(ledger, account, asked[1])


def _confirm(ledger: Ledger, account: Account, budget: str) -> None:
    with st.container(border=True, key="confirm_raise"):
        st.markdown(
            f"**Raise the budget of {as_text(account.name)} from {shown(account.budget)} to {budget}?** "
            "It is recorded, and cannot be undone."
        )
        reason = st.text_input(why_label(), max_chars=LONGEST_REASON, key="raise_reason", help=REASON_HELP)
        with st.container(horizontal=True):
            confirmed = st.button(f"Raise to {budget}", type="primary", key=f"raise_{budget}")
            st.button("Cancel", key="raise_cancel", on_click=_close)
    if confirmed:
        _close()
        raised = ledger.raise_budget(account.name, budget, reason=reason)
        st.session_state[_RAISED] = f"The budget of '{raised.name}' is {shown(raised.budget)} now."
        st.rerun()


def _close() -> None:
    st.session_state.pop(_ASKED, None)
