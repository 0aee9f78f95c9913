"""Opening an account: where people log in, a steward does, and curators charge it. Else the first release does."""

import streamlit as st

from pages.widgets.person import login_is_configured, may
from pages.widgets.text import as_text
from ppsets_core import Ledger
from ppsets_core.access import STEWARD
from ppsets_core.ledger.amounts import shown
from ppsets_core.ledger.ledger import LONGEST_REASON

_DONE = "account_opened"


def open_account_step(ledger: Ledger) -> None:
    if not (login_is_configured() and may(STEWARD)):
        return
    if told := st.session_state.pop(_DONE, ""):
        st.success(as_text(told))
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
            st.session_state[_DONE] = f"'{opened.name}' is open with a budget of {shown(opened.budget)}."
            st.rerun()
