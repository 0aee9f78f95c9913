"""Records from bare scores, and a release of them charged to an account by its name."""

from decimal import Decimal

import numpy as np

from ppsets_core import Account, Calibration, Ledger, Plan, Records, plan
from ppsets_core.ledger.charging import Cohort


def records_of(scores: np.ndarray, **facts: object) -> Records:
    """Patients are numbered where ε protects one and nothing is said of them."""
    if facts.get("unit") == "patient":
        facts = {"patients": np.arange(len(scores)).astype(str), **facts}
    return Records("scores.csv", scores, **facts)


def named(name: str) -> Account:
    """An account as someone saw it earlier: what it says of money is never believed."""
    return Account(name, Decimal(1000), Decimal(0))


def spend(
    ledger: Ledger,
    epsilon: float,
    scores: np.ndarray,
    name: str = "ward",
    *,
    m: int | None = None,
    request: str | None = None,
    **facts: object,
) -> Calibration:
    return ledger.release(records_of(scores, **facts), planned(scores, epsilon, m), named(name), request=request)


def planned(scores: np.ndarray, epsilon: float, m: int | None = None) -> Plan:
    return plan(len(scores), 0.1, epsilon, m=m)


def cohort_of(ledger: Ledger, records: Records) -> Cohort:
    builder = ledger.cohorts(len(records))()
    builder.add(records)
    return builder.total()
