"""The demo: one click to a calibrated state on the bundled public scores. It always works and says what it did."""

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

import numpy as np

from pages.widgets.calibrate.sources import DEMO_BUDGET, DEMO_DATASET
from pages.widgets.session import bundled_scores
from ppsets_core import (
    AccessError,
    Account,
    BudgetError,
    Calibration,
    Ledger,
    LedgerError,
    Plan,
    Records,
    Simulation,
    one_per_patient,
    plan,
    simulate,
)

ALPHA, EPSILON = 0.1, 1.0
_ATTEMPTS, _SECONDS = 6, 0.3


@dataclass(frozen=True)
class Demo:
    """The demo's calibration, the account it belongs to and a sentence on where it comes from."""

    calibration: Calibration | Simulation
    source: str
    sentence: str


def run_demo(open_ledger: Callable[[], Ledger]) -> Demo:
    """One release a ledger, charged once and used again from then on.

    Without a working ledger nothing may be released, so the threshold is simulated, which public scores allow, and
    marked so. A ledger that another session is busy with is tried again first.
    """
    records = one_per_patient(bundled_scores("calibration"))
    chosen = plan(len(records), ALPHA, EPSILON)
    why = ""
    for attempt in range(_ATTEMPTS):
        try:
            return _released(open_ledger(), records, chosen, f"{attempt // 2}")
        except AccessError as error:
            why = str(error)
            break
        except LedgerError as error:
            why = str(error)
            time.sleep(_SECONDS)
    simulated = simulate(records, chosen, np.random.default_rng())
    sentence = f"{why} So the demo's threshold is simulated: the scores are public, but it is no private release."
    return Demo(simulated, "the demo, simulated", sentence)


def _released(ledger: Ledger, records: Records, chosen: Plan, attempt: str) -> Demo:
    """The request is the same for the same scores, so that all clicks of all sessions share one charge.

    Only where one was charged and never drawn (a crash in between) does a later attempt ask anew.
    """
    account = _account(ledger, records)
    digest = hashlib.sha256(records.scores.tobytes()).hexdigest()[:16]
    request = f"demo {digest} {ALPHA} {EPSILON} {chosen.method} {attempt}"
    try:
        drawn = ledger.release(records, chosen, account, request=request, reason="the demo")
    except BudgetError:
        return _last_release(ledger, account.name)
    sentence = (
        f"One release at ε = {EPSILON:g} from public scores, charged once to '{account.name}'. Using it again is free."
    )
    return Demo(drawn, account.name, sentence)


def _account(ledger: Ledger, records: Records) -> Account:
    """The demo's account; where others released under its name, one of another name."""
    for number in count(1):
        name = DEMO_DATASET if number == 1 else f"{DEMO_DATASET}-{number}"
        account = ledger.account_for(records, name) or ledger.account_for(records, name, DEMO_BUDGET)
        assert account is not None
        drawn = [release.calibration for release in ledger.releases(account.name)]
        if all(one is None or (one.n, one.model) == (len(records), records.model) for one in drawn):
            return account
    raise AssertionError


def _last_release(ledger: Ledger, account: str) -> Demo:
    drawn = [release.calibration for release in ledger.releases(account) if release.calibration is not None]
    if not drawn:
        raise LedgerError(f"The budget of '{account}' is used up and nothing was released from it.")
    sentence = f"The budget of '{account}' is used up, so its last release is used again. That costs nothing."
    return Demo(drawn[-1], account, sentence)
