"""Records from bare scores, a release of them charged to an account by its name, and the ledger in a person's hands."""

import time
from decimal import Decimal

import numpy as np

from ppsets_core import Account, Calibration, Ledger, Plan, Records, plan
from ppsets_core.access import Person
from ppsets_core.ledger.charging import Cohort
from ppsets_core.ledger.personal import PersonalLedger

ISSUER = "https://login.example"


def records_of(scores: np.ndarray, **facts: object) -> Records:
    """Where one of each patient is asked for and nobody is named, each record is of another patient."""
    if facts.get("unit") == "patient":
        facts.setdefault("patients", np.array([f"patient {row}" for row in range(len(scores))]))
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
    records, chosen = records_of(scores, **facts), planned(scores, epsilon, m)
    return ledger.release(records, chosen, named(name), request=request, again=True)


def planned(scores: np.ndarray, epsilon: float, m: int | None = None) -> Plan:
    return plan(len(scores), 0.1, epsilon, m=m)


def cohort_of(ledger: Ledger, records: Records) -> Cohort:
    builder = ledger.cohorts(len(records))()
    builder.add(records)
    return builder.total()


def held_by(ledger: Ledger, name: str, *roles: str, lasts: float = 60) -> PersonalLedger:
    """The ledger as someone with these roles has it."""
    person = Person(ISSUER, name, frozenset(roles), time.time() + lasts)
    return PersonalLedger(ledger, lambda: person)
