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

NAME_HELP = "Curators choose the account by this name. It must name no patient."
REASON_HELP = "Kept in the ledger and its exports; it must name no patient."
_SAID = "budgets_said"
RAISE = "raise_name"
"""Names the data set that is raised; set it to open Ledger on one."""


def confirmed(opens: str, question: str, verb: str, key: str) -> str | None:
    """Ask in a popover, with a reason: the reason when it is confirmed, else None.

    question: Markdown, with names as `as_text` gives them.
    """
    with st.popover(opens), st.container(key=f"confirm_{key}"):
        st.markdown(question)
        reason = st.text_input(why_label(), max_chars=LONGEST_REASON, key=f"{key}_reason", help=REASON_HELP)
        return reason if st.button(verb, type="primary", key=f"{key}_confirmed") else None


def open_account_step(ledger: Ledger) -> None:
    if said := st.session_state.pop(_SAID, ""):
        st.success(as_text(said))
    if not (login_is_configured() and may(STEWARD)):
        return
    with st.expander("Open an account"), st.form("open_account", clear_on_submit=False, border=False):
        left, right = st.columns(2)
        name = left.text_input("Name of the data set", max_chars=100, help=NAME_HELP)
        budget = right.number_input("Budget", 0.01, 1e6, 2.0, 0.5, "%g")
        reason = st.text_input("Why", max_chars=LONGEST_REASON, help=REASON_HELP)
        if st.form_submit_button("Open the account"):
            opened = ledger.open_account(name, budget, reason=reason)
            st.session_state[_SAID] = f"'{opened.name}' is open with a budget of {shown(opened.budget)}."
            st.rerun()


def raise_budget_step(ledger: Ledger, accounts: Sequence[Account]) -> None:
    with st.expander("Raise a budget"):
        st.write(
            "A larger budget lets more be released, and so more be learnt, about every patient of the data set. "
            "It stays in the ledger and cannot be lowered again."
        )
        by_name, releases = {account.name: account for account in accounts}, ledger.releases()
        left, right = st.columns(2)
        first = list(by_name).index(releases[-1].account) if releases else 0  # its budget is most likely short
        account = by_name[left.selectbox("Data set to raise", list(by_name), first, key=RAISE)]
        value = float(account.budget) + 1
        budget = right.number_input("New budget", 0.01, None, value, 0.5, "%g", f"raise_to_{account.name}")
        if warning := weak_budget(budget):
            st.warning(warning)
        change = f"from {shown(account.budget)} to {shown(amount(budget))}"
        question = f"**Raise the budget of {as_text(account.name)} {change}?** It is recorded, and cannot be undone."
        reason = confirmed("Raise …", question, f"Raise to {shown(amount(budget))}", "raise")
        if reason is not None:
            raised = ledger.raise_budget(account.name, budget, reason=reason)
            st.session_state[_SAID] = f"The budget of '{raised.name}' is {shown(raised.budget)} now."
            st.rerun()
