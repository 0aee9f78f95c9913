"""The step that spends: which account pays, a confirm step that names it, one charge, and the result."""

from dataclasses import replace

import streamlit as st

from pages.widgets.calibrate.choose_account import Payer, choose_account
from pages.widgets.calibrate.pending_release import Order
from pages.widgets.calibrate.reading import Reading
from pages.widgets.calibration_card import describe, show_calibration
from pages.widgets.session import open_ledger, set_active_calibration
from pages.widgets.settings import apply_epsilon
from pages.widgets.text import as_text
from ppsets_core import Ledger, Plan, Records, plan
from ppsets_core.ledger.amounts import amount, difference, shown

_ORDER, _RELEASED = "order", "released_order"
SEVERAL = "ε protects one record: a patient with several records loses up to several times as much."


def release_step(reading: Reading, records: Records, planned: Plan, budget: float) -> None:
    """From the account to the calibration. Ends in a rerun of the whole app when a release was drawn."""
    ledger = open_ledger()
    _finish(st.session_state.get(_ORDER))
    released = st.session_state.get(_RELEASED)
    here = released is not None and released.reading == reading.id
    if here:
        with st.container(border=True, key="result"):
            st.markdown("**Your calibration**")
            show_calibration(released.calibration, released.payer.name, key="released")
        st.markdown("**Another release from these records**")
    payer = choose_account(ledger, reading.records.uploaded, reading.name, budget, key=reading.id)
    if payer is not None and planned.is_trivial:
        st.info("There is nothing to spend on yet: with this α and ε the chosen rule has too few records, see above.")
    elif payer is not None and not payer.can_pay(planned.epsilon):
        _over_budget(planned, payer)
    elif payer is not None:
        _order(ledger, Order(reading.id, records, planned, payer, model=reading.model))
    if payer is not None and not payer.new and not here:
        _offer_earlier(ledger, Order(reading.id, records, planned, payer, model=reading.model))


def _order(ledger: Ledger, wanted: Order) -> None:
    order = st.session_state.get(_ORDER)
    if order is not None and order.refusal:
        st.error(as_text(order.refusal))
    if order is None or order.refusal or not order.is_for(wanted.reading, wanted.plan, wanted.payer):
        first = st.session_state.get(_RELEASED) is None
        kind = "primary" if first else "secondary"
        st.button("Calibrate …", type=kind, key="calibrate", on_click=_open, args=(wanted,))
        return
    after = difference(order.payer.left, amount(order.plan.epsilon))
    with st.container(border=True, key="confirm"):
        st.markdown(
            f"**Spend ε = {order.plan.epsilon:g} of the budget of {as_text(order.payer.name)}?** "
            f"{shown(order.payer.left)} is left now, {shown(after)} will be afterwards. "
            "A release cannot be taken back; it can be used as often as you like."
        )
        if order.records.patients is not None and order.records.unit == "record":
            st.warning(SEVERAL)
        with st.container(horizontal=True):
            confirmed = st.button(
                f"Spend ε = {order.plan.epsilon:g} and calibrate", type="primary", key=f"spend_{order.request}"
            )
            st.button("Cancel", key="cancel_order", on_click=_close)
    if confirmed:
        order.spend(ledger)
        _finish(order)
        st.rerun()


def _finish(order: Order | None) -> None:
    """Take over a release that was drawn. Each line may be interrupted by a click; the next run then repeats them."""
    if order is None or order.calibration is None:
        return
    set_active_calibration(order.calibration, order.payer.name)
    st.session_state[_RELEASED] = order
    _close()
    st.rerun()


def _open(order: Order) -> None:
    st.session_state[_ORDER] = order


def _close() -> None:
    st.session_state.pop(_ORDER, None)


def _over_budget(planned: Plan, payer: Payer) -> None:
    st.warning(
        f"ε = {planned.epsilon:g} is more than the {shown(payer.left)} left of the budget of {shown(payer.budget)} for "
        f"{as_text(payer.name)}. Choose a smaller ε, or "
        + ("set a larger budget above." if payer.new else "raise the budget on Ledger.")
    )
    with st.container(horizontal=True):
        if payer.left > 0 and not _at(planned, float(payer.left)).is_trivial:
            st.button(
                f"Use ε = {shown(payer.left)}", key="apply_left", on_click=apply_epsilon, args=(float(payer.left),)
            )
        if not payer.new and st.button("Go to Ledger", key="to_ledger"):
            st.switch_page("pages/ledger.py")


def _at(planned: Plan, epsilon: float) -> Plan:
    return plan(planned.n, planned.alpha, epsilon, method=planned.method)


def _offer_earlier(ledger: Ledger, wanted: Order) -> None:
    """A release can be used again for nothing, also after a reload lost it from the screen."""
    name = wanted.payer.name
    earlier = [
        r.calibration for r in ledger.releases(name) if r.calibration is not None and wanted.is_like(r.calibration)
    ]
    if not earlier:
        return
    st.caption(as_text(f"Last release of '{name}': {describe(earlier[-1])}. Using it again costs nothing."))
    if st.button("Use the last release again", key="reuse"):
        _finish(replace(wanted, calibration=earlier[-1]))
