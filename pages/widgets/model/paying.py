"""The step that spends before private fine-tuning: which account pays, and a confirm step that names it."""

import uuid
from dataclasses import dataclass, field

import streamlit as st

from pages.widgets.choose_account import choose_account, in_words
from pages.widgets.model.settings import PrivacySettings, Settings
from pages.widgets.person import login_is_configured, why_label
from pages.widgets.session import open_ledger
from pages.widgets.text import as_text
from ppsets_core import Account
from ppsets_core.ledger.amounts import shown
from ppsets_core.ledger.ledger import LONGEST_REASON
from ppsets_core.ledger.training import TrainingPayment
from ppsets_core.wording import ADDS_UP

USUAL_BUDGET = 5.0
REASON_HELP = "Kept in the ledger and its exports, with the charge; it must name no patient."
_PENDING = "pending_training"


@dataclass(eq=False)
class PendingTraining:
    """What a confirm step names: the X-rays, how they are trained on, and who pays."""

    xrays: tuple[str, ...]
    settings: Settings
    account: Account
    request: str = field(default_factory=lambda: uuid.uuid4().hex)
    is_confirmed: bool = False

    @property
    def terms(self) -> tuple[object, ...]:
        return self.xrays, self.settings, self.account


def pay(xrays: tuple[str, ...], settings: Settings, privacy: PrivacySettings, proposed: str) -> TrainingPayment | None:
    """The payment that was confirmed, for training to charge before it begins, until `begun`; None while it is not.

    A second click may interrupt the run that was to begin it: the next run is given the payment again."""
    account = choose_account(open_ledger(), proposed, USUAL_BUDGET, key=f"tune-{proposed}")
    if account is None:
        return None
    if not account.can_pay(privacy.epsilon):
        st.warning(
            f"ε = {privacy.epsilon:g} is more than the whole budget of {shown(account.budget)} for "
            f"{as_text(account.name)}. Choose a smaller ε, or "
            + ("set a larger budget above." if account.is_new else "have the budget raised on Ledger.")
        )
        return None
    wanted = PendingTraining(xrays, settings, account)
    pending: PendingTraining | None = st.session_state.get(_PENDING)
    if pending is None or pending.terms != wanted.terms:
        begun()  # what was confirmed for other terms stands for nothing
        st.button("Fine-tune …", type="primary", key="tune_open", on_click=_open, args=(wanted,))
        return None
    return _confirm(pending, privacy)


def _confirm(pending: PendingTraining, privacy: PrivacySettings) -> TrainingPayment | None:
    price = f"ε = {privacy.epsilon:g} and δ = {privacy.delta:g}"
    with st.container(border=True, key="confirm_training"):
        st.markdown(
            f"**Spend {price} of the budget of {as_text(pending.account.name)}?** {in_words(pending.account)}. "
            "Everyone whose X-rays are trained on is charged before the training begins, once for each X-ray. If "
            "someone has no room for it, after all releases under whatever name, nothing is trained and nothing "
            "charged. What is charged stays charged, also if you cancel the training or leave this page."
        )
        st.caption(ADDS_UP)
        reason = st.text_input(
            why_label(), max_chars=LONGEST_REASON, key=f"tune_reason_{pending.request}", help=REASON_HELP
        )
        with st.container(horizontal=True):
            key = f"tune_spend_{pending.request}"
            st.button(f"Spend {price} and fine-tune", type="primary", key=key, on_click=_agree, args=(pending,))
            st.button("Cancel", key="tune_cancel", on_click=begun)
    if not pending.is_confirmed:
        return None
    if login_is_configured() and not reason.strip():  # the charge would refuse it, after all X-rays were read
        pending.is_confirmed = False
        st.error("Say why: the reason is kept in the ledger, with your name.")
        return None
    return TrainingPayment(
        *(open_ledger(), pending.account, privacy.epsilon, privacy.delta), request=pending.request, reason=reason
    )


def _open(pending: PendingTraining) -> None:
    st.session_state[_PENDING] = pending


def _agree(pending: PendingTraining) -> None:
    pending.is_confirmed = True


def begun() -> None:
    """Nothing is pending any more: the training has begun, or was called off."""
    st.session_state.pop(_PENDING, None)
