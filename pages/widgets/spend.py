"""Confirm, then spend: an account, a box that names the price, one charge however often it is clicked, a result kept.

Release, check and training all spend through `spend_step`. A click marks what is pending as confirmed; the next run
carries it out. Streamlit may interrupt any run, so the result stays with what is pending until a run has taken it over,
and the ledger answers a request that it has met with the same release.
"""

import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

import streamlit as st

from pages.widgets.budgets import REASON_HELP
from pages.widgets.jobs import JobKey, collect, is_running, show_progress, start_job, stop_job
from pages.widgets.person import login_is_configured, may, why_label
from pages.widgets.text import as_text
from ppsets_core import Account, Ledger, PpsetsError
from ppsets_core.access import STEWARD
from ppsets_core.errors import RepeatError
from ppsets_core.ledger import Release
from ppsets_core.ledger.amounts import amount, shown
from ppsets_core.ledger.ledger import LONGEST_REASON, Asked
from ppsets_core.progress import Cancelled, JobProgress
from ppsets_core.wording import weak_budget

Prepared = TypeVar("Prepared")
BUDGET_HELP = (
    "The total ε that any one of these patients may ever lose, in all releases under this name. Losses add up, so a "
    "budget bounds what they can reveal. 2 allows two releases at ε = 1. It can be raised later, on record."
)
NAME_HELP = (
    "The ledger keeps one budget per name, and what each named patient has lost under all names. The name stays in it "
    "and in its exports for good: it must name no patient."
)
HOW_TO_RAISE = {True: "raise the budget on Ledger.", False: "ask a steward to raise the budget."}
NO_REASON = "Say why: the reason is kept in the ledger, with your name."


@dataclass(frozen=True)
class Terms:
    """What a click would spend and what for. Other terms are confirmed anew.

    step: names the confirm step and its widgets: "release", "check" or "training".
    of: what the result is about; `spent_on` finds it by this.
    how: everything else that was agreed to, such as the plan.
    price: as the question and the button say it.
    """

    step: str
    of: tuple[object, ...]
    how: object
    account: Account
    price: str


@dataclass(eq=False)
class Spending:
    """Terms that were named, and what came of them."""

    terms: Terms
    reason: str = ""
    request: str = field(default_factory=lambda: uuid.uuid4().hex)
    is_confirmed: bool = False
    result: Any = None
    refusal: str = ""
    repeats: RepeatError | None = None
    """Which earlier release is identical; a click below its notice takes that one up or pays again."""

    @property
    def asked(self) -> Asked:
        """Arguments for the ledger. A click below the notice of a repeat pays again."""
        return {"request": self.request, "reason": self.reason, "again": bool(self.repeats)}

    def carry_out(self, spend: Callable[["Spending"], Any]) -> None:
        """Spend once; None from `spend` means that it is not done yet."""
        if self.result is not None:
            return
        try:
            self.result = spend(self)
        except Cancelled:
            self.is_confirmed = False
        except RepeatError as error:
            self.repeats, self.is_confirmed = error, False
        except PpsetsError as error:
            self.refusal, self.is_confirmed = str(error), False


def choose_account(ledger: Ledger, proposed: str, proposed_budget: float, key: str) -> Account | None:
    """Choose the account that pays, by name; None while it is not usable yet.

    Nothing here looks for the records in the ledger: only the charge tells whether it has met them."""
    left, right = st.columns(2)
    names, may_open = ledger.account_names(), may(STEWARD)
    options = list(dict.fromkeys([proposed[:100], *names])) if may_open else names
    name = left.selectbox(
        *("Name of the data set", options, options.index(proposed[:100]) if proposed[:100] in options else None),
        key=f"name_{key}",
        help=NAME_HELP,
        placeholder="Choose or type a name" if may_open else "Choose a data set",
        accept_new_options=may_open,
        persist_state="session",
    )
    if not name or not name.strip():
        st.info("Choose the data set that pays." + ("" if may_open else " If it is not listed, a steward opens it."))
        return None
    if (named := ledger.account_named(name)) is not None:
        st.info(as_text(f"'{named.name}' is in the ledger already. {_in_words(named)}."))
        return named
    label, limits = "Privacy budget of the data set", (0.01, 1e6)
    budget = right.number_input(
        label, *limits, proposed_budget, 0.5, "%g", f"budget_{key}", BUDGET_HELP, persist_state="session"
    )
    if warning := weak_budget(budget):
        st.warning(warning)
    return ledger.account_named(name, budget)


def has_room(account: Account, epsilon: float) -> bool:
    """Whether the budget allows this ε; warns where it does not, or where some patients may have too little left."""
    if not account.can_pay(epsilon):
        st.warning(
            f"ε = {epsilon:g} is more than the whole budget of {shown(account.budget)} for {as_text(account.name)}. "
            "Choose a smaller ε, or " + ("set a larger budget above." if account.is_new else HOW_TO_RAISE[may(STEWARD)])
        )
        return False
    if amount(epsilon) > account.left:
        st.warning(
            f"Releases under this name have cost {shown(account.spent)} of {shown(account.budget)}. A patient who was "
            f"in all of them has {shown(account.left)} left. If one is in these records, ε = {epsilon:g} will be "
            "refused. Refusals are recorded."
        )
    return True


def spent_on(step: str, of: tuple[object, ...], accept: Callable[[Spending], None] | None = None) -> Spending | None:
    """Return what this session last spent in this step, if it was on these.

    A result that is still pending is taken over first: each line may be interrupted, and the next run repeats them."""
    pending: Spending | None = st.session_state.get(_pending(step))
    if pending is not None and pending.result is not None:
        if accept is not None:
            accept(pending)
        st.session_state[f"spent_{step}"] = pending
        clear_pending(step)
        st.rerun()
    spent: Spending | None = st.session_state.get(f"spent_{step}")
    return spent if spent is not None and spent.terms.of == of else None


def spend_step(
    terms: Terms,
    spend: Callable[[Spending], Any],
    *,
    opens: str,
    verb: str,
    words: str,
    warnings: tuple[str, ...] = (),
    is_first: bool = True,
) -> None:
    """Ask, confirm, spend. Reruns the app once there is a result; `spent_on` then takes it over.

    spend: carries it out; called again by every run until it returns a result or raises.
    opens, verb: the labels: "Calibrate …" opens the box, "Spend ε = 1 and calibrate" spends.
    words: what the click means, besides price and payer.
    is_first: whether the button that opens the box is the screen's primary one.
    """
    pending: Spending | None = st.session_state.get(_pending(terms.step))
    if pending is not None and pending.terms != terms:
        clear_pending(terms.step)  # what was confirmed for other terms stands for nothing
        pending = None
    if pending is not None and pending.is_confirmed:
        pending.carry_out(spend)
        if pending.result is not None:
            st.rerun()
        if pending.is_confirmed:
            return
    if pending is not None and pending.refusal:
        st.error(as_text(pending.refusal))
    if pending is None or pending.refusal not in ("", NO_REASON):
        st.button(
            opens, type="primary" if is_first else "secondary", key=f"{terms.step}_open", on_click=_ask, args=(terms,)
        )
    else:
        _confirm(pending, verb, words, warnings)


def prepare(spending: Spending, work: Callable[[JobProgress], Prepared], words: str) -> Prepared | None:
    """Do what must be done before the charge, in the background and with a bar; None until it is done.

    It ends, and nothing is charged, where it is cancelled or other terms are chosen."""
    key = JobKey[Prepared](f"prepare_{spending.terms.step}")
    if key not in st.session_state:
        start_job(key, work)
    if is_running(key):
        show_progress(key, words)
        return None
    if (found := collect(key)) is None:
        raise Cancelled
    return found


def clear_pending(step: str) -> None:
    """Forget what was asked or confirmed, but not carried out."""
    st.session_state.pop(_pending(step), None)
    stop_job(f"prepare_{step}")


def _ask(terms: Terms) -> None:
    """Open the confirm step."""
    st.session_state[_pending(terms.step)] = Spending(terms)


def _confirm(pending: Spending, verb: str, words: str, warnings: tuple[str, ...]) -> None:
    terms = pending.terms
    with st.container(border=True, key=f"confirm_{terms.step}"):
        st.markdown(
            f"**Spend {terms.price} of the budget of {as_text(terms.account.name)}?** {_in_words(terms.account)}. "
            f"{words}"
        )
        earlier = pending.repeats and pending.repeats.earlier
        for warning in filter(None, (pending.repeats and pending.repeats.args[0], *warnings)):
            st.warning(as_text(warning))
        st.text_input(why_label(), max_chars=LONGEST_REASON, key=_reason(pending), help=REASON_HELP)
        with st.container(horizontal=True):
            key = f"{terms.step}_spend_{pending.request}"
            once_more = "once more " if earlier else ""
            label = f"Spend {terms.price} {once_more}and {verb}"
            if earlier:
                free = f"Use release no. {earlier.id} (free)"
                st.button(free, type="primary", key=f"{terms.step}_reuse", on_click=_reuse, args=(pending, earlier))
            kind: Literal["primary", "secondary"] = "secondary" if earlier else "primary"
            st.button(label, type=kind, key=f"{key}{once_more}", on_click=_agree, args=(pending, once_more))
            st.button("Cancel", key=f"{terms.step}_cancel", on_click=clear_pending, args=(terms.step,))


def _reuse(pending: Spending, earlier: Release) -> None:
    """What was paid for before is the result."""
    pending.result = earlier.calibration or earlier.check


def _agree(pending: Spending, once_more: str) -> None:
    """Confirm, unless an earlier click of a double click has been refused or carried out, or found a repeat."""
    is_late = bool(pending.repeats) != bool(once_more) or pending.refusal not in ("", NO_REASON)
    if st.session_state.get(_pending(pending.terms.step)) is not pending or is_late:
        return
    pending.reason = st.session_state.get(_reason(pending), "")
    lacks_reason = login_is_configured() and not pending.reason.strip()  # a training would hear of it late
    pending.refusal, pending.is_confirmed = (NO_REASON, False) if lacks_reason else ("", True)


def _in_words(account: Account) -> str:
    return f"Releases under this name have cost {shown(account.spent)} of {shown(account.budget)}"


def _pending(step: str) -> str:
    return f"pending_{step}"


def _reason(pending: Spending) -> str:
    return f"{pending.terms.step}_reason_{pending.request}"
