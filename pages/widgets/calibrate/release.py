"""The step that spends: which account pays, the confirmed release, and the calibration that came of it."""

import streamlit as st

from pages.widgets.budgets import RAISE
from pages.widgets.calibrate.plans import show_coverage_of_each
from pages.widgets.calibrate.sources import Reading, counting, identity
from pages.widgets.calibration_card import show_calibration
from pages.widgets.person import may
from pages.widgets.session import open_ledger, set_active_calibration
from pages.widgets.settings import apply_epsilon
from pages.widgets.shelf import publish_step
from pages.widgets.spend import Spending, Terms, choose_account, has_room, prepare, spend_step, spent_on
from ppsets_core import Account, Calibration, Ledger, Plan
from ppsets_core.access import STEWARD
from ppsets_core.data.counts import DescribedRecords, Selection
from ppsets_core.ledger.amounts import amount, shown
from ppsets_core.ledger.charging import note_on_everyone
from ppsets_core.method.counts import Countable
from ppsets_core.method.plan import at_epsilon
from ppsets_core.wording import familiar_or_not

RELEASE = "release"
COUNTING = "Pieces counted, nothing is charged yet:"
SEVERAL = "ε protects one record: a patient with several records loses up to several times as much."


def release_step(reading: Reading, records: DescribedRecords, planned: Plan, budget: float) -> None:
    """From the account to the calibration."""
    ledger, of = open_ledger(), identity(reading, records)
    released = spent_on(RELEASE, of, accept=_activate)
    if released is not None:
        with st.container(border=True, key="result"):
            st.markdown("**Your calibration**")
            show_calibration(released.result, released.terms.account.name, key="released")
            show_coverage_of_each(released.result)
            for one in ledger.releases(released.terms.account.name):
                if one.calibration == released.result:
                    publish_step(one)
        st.markdown("**Another release from these records**")
    account = choose_account(ledger, reading.name, budget, key=reading.id)
    if account is None:
        return
    terms = Terms(RELEASE, of, planned, account, f"ε = {planned.epsilon:g}")
    if planned.is_trivial:
        st.info("There is nothing to spend on yet: with this α and ε the chosen rule has too few records, see above.")
    else:
        _offer(ledger, records, planned, terms)


def _offer(ledger: Ledger, records: DescribedRecords, planned: Plan, terms: Terms) -> None:
    is_payable = has_room(terms.account, planned.epsilon)
    if amount(planned.epsilon) > terms.account.left:
        _ways_out(planned, terms.account)
    if not is_payable:
        return

    def release(spending: Spending) -> Calibration | None:
        counted: Countable | None = records
        if isinstance(records, Selection):
            counted = prepare(spending, counting(records, planned, ledger), COUNTING)
        if counted is None:
            return None
        return ledger.release(counted, planned, terms.account, **spending.asked)

    is_shared = records.has_patients and records.unit == "record"
    spend_step(
        terms,
        release,
        opens="Calibrate …",
        verb="calibrate",
        words=(
            f"Everyone in these records loses ε = {planned.epsilon:g} for good. If someone has less left, under any "
            "name, nothing is released or charged. The release can be used as often as you like. "
            f"{familiar_or_not(planned)}"
        ),
        warnings=(note_on_everyone(records, terms.account.name), SEVERAL if is_shared else ""),
    )


def _activate(spending: Spending) -> None:
    set_active_calibration(spending.result, spending.terms.account.name)


def _ways_out(planned: Plan, account: Account) -> None:
    with st.container(horizontal=True):
        if account.left > 0 and not at_epsilon(planned, float(account.left)).is_trivial:
            rest = float(account.left)
            st.button(f"Use ε = {shown(account.left)}", key="apply_left", on_click=apply_epsilon, args=(rest,))
        if not account.is_new and may(STEWARD) and st.button("Go to Ledger", key="to_ledger"):
            st.session_state[RAISE] = account.name
            st.switch_page("pages/ledger.py")
