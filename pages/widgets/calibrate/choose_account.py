"""Which privacy account pays for a release: the one that knows these records, or a new one with a budget."""

from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import streamlit as st

from pages.widgets.text import as_text
from ppsets_core import Ledger
from ppsets_core.ledger.amounts import amount, shown
from ppsets_core.ledger.ledger import DataSet

BUDGET_HELP = (
    "The total ε that all releases from these records may ever spend. Losses add up, so a budget bounds what they "
    "can reveal together. 2 allows two releases at ε = 1. It can be raised later, on record."
)


@dataclass(frozen=True)
class Payer:
    """An account's name and what is left of it; `new` if it is opened with the first release."""

    name: str
    budget: Decimal
    left: Decimal
    new: bool

    def can_pay(self, epsilon: float) -> bool:
        return amount(epsilon) <= self.left


def choose_account(
    ledger: Ledger, uploaded: np.ndarray, proposed: str, proposed_budget: float, key: str
) -> Payer | None:
    """The account that knows these records, or the name and budget of one; None while they are not usable yet."""
    known = ledger.dataset_of(uploaded)
    if known is not None:
        account = ledger.dataset(known)
        st.write(f"The ledger knows these records as **{as_text(known)}**: {_left(account)}.")
        return _existing(account)
    left, right = st.columns(2)
    name = left.text_input(
        "Name of the data set",
        value=proposed[:100],
        max_chars=100,
        key=f"name_{key}",
        help="The ledger keeps one budget a name. It knows the same records again under any name. "
        "It is kept in the ledger and written into its exports, so it must name no patient.",
    ).strip()
    st.caption("The name is kept in the ledger and its exports for good: it must name no patient.")
    for account in ledger.datasets():
        if account.name == name:
            right.write("")
            st.info(as_text(f"'{name}' is in the ledger already ({_left(account)}), and its budget is charged."))
            return _existing(account)
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
    if not name:
        st.info("Give the data set a name.")
        return None
    exact = amount(budget)
    return Payer(name, exact, exact, new=True)


def _existing(account: DataSet) -> Payer:
    return Payer(account.name, account.budget, account.left, new=False)


def _left(account: DataSet) -> str:
    return f"{shown(account.left)} left of a budget of {shown(account.budget)}"
