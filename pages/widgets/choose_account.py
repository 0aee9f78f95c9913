"""Which privacy account pays for a release: the one that is named, or a new one with a budget.

Nothing here looks for the records in the ledger: whether it has met them is told by the charge alone.
"""

import streamlit as st

from pages.widgets.person import may
from pages.widgets.text import as_text
from ppsets_core import Account, Ledger
from ppsets_core.access import STEWARD
from ppsets_core.ledger.amounts import shown
from ppsets_core.wording import weak_budget

BUDGET_HELP = (
    "The total ε that any one of these patients may ever lose, in all releases together. Losses add up, so a budget "
    "bounds what they can reveal. 2 allows two releases at ε = 1. It can be raised later, on record."
)


def choose_account(ledger: Ledger, proposed: str, proposed_budget: float, key: str) -> Account | None:
    """The account that is named; None while it is not usable yet."""
    left, right = st.columns(2)
    name = left.text_input(
        "Name of the data set",
        value=proposed[:100],
        max_chars=100,
        key=f"name_{key}",
        persist_state="session",
        help="The ledger keeps one budget per name, and what each patient has lost under all names. "
        "The name is kept in the ledger and written into its exports, so it must name no patient.",
    ).strip()
    st.caption("The name is kept in the ledger and its exports for good: it must name no patient.")
    if not name:
        st.info("Give the data set a name.")
        return None
    if (named := ledger.account_named(name)) is not None:
        right.write("")
        st.info(as_text(f"'{named.name}' is in the ledger already, and its budget is charged: {in_words(named)}."))
        return named
    if not may(STEWARD):
        st.info(as_text(f"'{name}' is not in the ledger. Ask a steward to open it with a budget, then go on here."))
        return None
    budget = right.number_input(
        "Privacy budget of the data set",
        min_value=0.01,
        max_value=1e6,
        value=proposed_budget,
        step=0.5,
        format="%g",
        key=f"budget_{key}",
        persist_state="session",
        help=BUDGET_HELP,
    )
    if warning := weak_budget(budget):
        st.warning(warning)
    return ledger.account_named(name, budget)


def in_words(account: Account) -> str:
    return f"{shown(account.budget)} in all, of which releases under this name have cost {shown(account.spent)}"
