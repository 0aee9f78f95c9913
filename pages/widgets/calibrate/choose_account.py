"""Which privacy account pays for a release: the one that knows these records, or a new one with a budget."""

import streamlit as st

from pages.widgets.text import as_text
from ppsets_core import Account, Ledger, Records
from ppsets_core.ledger.amounts import shown

BUDGET_HELP = (
    "The total ε that all releases from these records may ever spend. Losses add up, so a budget bounds what they "
    "can reveal together. 2 allows two releases at ε = 1. It can be raised later, on record."
)


def choose_account(ledger: Ledger, records: Records, proposed: str, proposed_budget: float, key: str) -> Account | None:
    """The account that knows these records, or the one that is named; None while it is not usable yet."""
    if (known := ledger.account_for(records)) is not None:
        st.write(f"The ledger knows these records as **{as_text(known.name)}**: {_left(known)}.")
        return known
    left, right = st.columns(2)
    name = left.text_input(
        "Name of the data set",
        value=proposed[:100],
        max_chars=100,
        key=f"name_{key}",
        help="The ledger keeps one budget per name. It knows the same records again under any name. "
        "It is kept in the ledger and written into its exports, so it must name no patient.",
    ).strip()
    st.caption("The name is kept in the ledger and its exports for good: it must name no patient.")
    if not name:
        st.info("Give the data set a name.")
        return None
    if (named := ledger.account_for(records, name)) is not None:
        right.write("")
        st.info(as_text(f"'{name}' is in the ledger already ({_left(named)}), and its budget is charged."))
        return named
    budget = right.number_input(
        "Privacy budget of the data set",
        min_value=0.01,
        max_value=1e6,
        value=proposed_budget,
        step=0.5,
        format="%g",
        key=f"budget_{key}",
        help=BUDGET_HELP,
    )
    return ledger.account_for(records, name, budget)


def _left(account: Account) -> str:
    return f"{shown(account.left)} left of a budget of {shown(account.budget)}"
