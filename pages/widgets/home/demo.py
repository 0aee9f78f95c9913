"""The demo: one click to a calibrated state on the bundled public scores. It always works and says what it did."""

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

import numpy as np

from pages.widgets.bundled import bundled_scores
from pages.widgets.calibrate.score_source import DEMO_BUDGET, DEMO_DATASET
from ppsets_core import BudgetError, Calibration, Ledger, LedgerError, Records, calibrate, one_per_patient
from ppsets_core.model_fingerprint import bundled_fingerprint

ALPHA, EPSILON, RULE = 0.1, 1.0, "sharp"
_ATTEMPTS, _SECONDS = 6, 0.3


@dataclass(frozen=True)
class Demo:
    """The demo's calibration, the account it belongs to and a sentence on where it comes from."""

    calibration: Calibration
    source: str
    sentence: str


def run_demo(open_ledger: Callable[[], Ledger]) -> Demo:
    """One release a ledger, charged once and used again from then on.

    Without a working ledger nothing may be released, so the threshold is simulated, which public scores allow, and
    marked so. A ledger that another session is busy with is tried again first.
    """
    records = one_per_patient(bundled_scores("calibration"))
    for attempt in range(_ATTEMPTS):
        try:
            return _released(open_ledger(), records, f"{attempt // 2}")
        except LedgerError as error:
            why = str(error)
            time.sleep(_SECONDS)
    binding = {"unit": records.unit, "model": bundled_fingerprint()}
    simulated = calibrate(records.scores, ALPHA, EPSILON, method=RULE, rng=np.random.default_rng(), **binding)
    sentence = f"{why} So the demo's threshold is simulated: the scores are public, but it is no private release."
    return Demo(simulated, "the demo, simulated", sentence)


def _released(ledger: Ledger, records: Records, attempt: str) -> Demo:
    """The request is the same for the same scores, so that all clicks of all sessions share one charge.

    Only where one was charged and never drawn (a crash in between) does a later attempt ask anew.
    """
    account = _account(ledger, records)
    digest = hashlib.sha256(records.scores.tobytes()).hexdigest()[:16]
    request = f"demo {digest} {ALPHA} {EPSILON} {RULE} {attempt}"
    try:
        drawn = ledger.calibrate(
            account,
            records.scores,
            ALPHA,
            EPSILON,
            method=RULE,
            unit=records.unit,
            model=bundled_fingerprint(),
            uploaded=records.uploaded,
            request=request,
        )
    except BudgetError:
        return _last_release(ledger, account)
    sentence = (
        f"One release at ε = {EPSILON:g} from public scores, charged once to '{account}'. Using it again is free."
    )
    return Demo(drawn, account, sentence)


def _account(ledger: Ledger, records: Records) -> str:
    """The account that knows the bundled scores, else one that can pay and in which nobody's records are."""
    known = ledger.dataset_of(records.uploaded)
    if known is not None:
        return known
    accounts = {account.name: account for account in ledger.datasets()}
    for number in count(1):
        name = DEMO_DATASET if number == 1 else f"{DEMO_DATASET}-{number}"
        if name not in accounts:
            return ledger.add(name, str(DEMO_BUDGET)).name
        if not ledger.releases(name) and accounts[name].left >= EPSILON:
            return name
    raise AssertionError


def _last_release(ledger: Ledger, account: str) -> Demo:
    drawn = [release for release in ledger.releases(account) if release.calibration is not None]
    if not drawn:
        raise LedgerError(f"The budget of '{account}' is used up and nothing was released from it.")
    sentence = f"The budget of '{account}' is used up, so its last release is used again. That costs nothing."
    return Demo(drawn[-1].calibration, account, sentence)
