"""Whether a charge may be made: what can be told from public numbers, and whether everyone in a cohort has room."""

from collections.abc import Collection, Iterator
from decimal import Decimal

from ppsets_core.errors import BudgetError, InputError
from ppsets_core.ledger.accounts import Account, Snapshot
from ppsets_core.ledger.amounts import difference, shown, total
from ppsets_core.ledger.cohort import Cohort
from ppsets_core.ledger.losses import Kept, Price, everyone_has_room
from ppsets_core.ledger.store import Log

RAISE = "on the Ledger screen or with `ppsets ledger raise NAME BUDGET`"
UNNAMED = (
    "These records name no patients, so records of the same score count as one person: "
    "a column `patient`, in this file and in others that are charged, tells them apart."
)
MOST_REFUSALS = 10
"""A refusal tells that someone was charged before; after so many the account's budget must be raised to ask on."""
MOST_DELTA = Decimal("0.01")
"""The largest chance, over all private trainings together, that a patient's ε does not hold."""


def price_of(cohort: Cohort, epsilon: Decimal, delta: float) -> Price:
    """What a record costs: the same whoever they are, for it is written down and exported."""
    price = Price(epsilon, Decimal(repr(float(delta))) if delta else Decimal(0))
    if price.delta_of(int(cohort.counts.max(initial=0))) > MOST_DELTA:
        raise InputError(
            f"δ, as it counts for a patient of several X-rays, comes to more than {MOST_DELTA}. Nothing was charged. "
            "Choose a smaller ε or δ, or give one X-ray of each patient."
        )
    return price


def check_open(seen: Snapshot, payer: Account, price: Price) -> None:
    """Refuses what public numbers alone refuse."""
    if price.epsilon > payer.budget:
        raise BudgetError(
            f"ε = {shown(price.epsilon)} is more than the whole budget of {shown(payer.budget)} for '{payer.name}'. "
            f"Nothing was released. Choose a smaller ε, or raise the budget {RAISE}."
        )
    refused = [one for one in seen.refusals if (one.account, one.budget) == (payer.name, payer.budget)]
    if len(refused) >= MOST_REFUSALS:
        raise BudgetError(
            f"'{payer.name}' was refused {len(refused)} times since its budget was set, and each refusal tells that "
            f"someone was charged before. Nothing was released. To ask again, raise the budget {RAISE}."
        )


def has_room(
    log: Log, seen: Snapshot, payer: Account, cohort: Cohort, price: Price, identities: Collection[str]
) -> bool:
    """Whether everyone can pay, within the payer's budget, after all that they were charged under whatever name.

    Charges that do not say to whom (of version 3, or of too many patients) count for everyone who is released under
    their account's name or in the very data set that was charged. A cohort of too many is held to count in all others
    of its account.
    """
    owners = {payer.name, *(name for one in identities for name in seen.owners.get(one, ()))}
    is_whole = cohort.counted_by == "data set"
    lost = total(
        one.epsilon
        for one in seen.releases
        if (one.account in owners and seen.cohorts[one.id] is None) or (is_whole and one.account == payer.name)
    )
    limit = Price(difference(payer.budget, lost), MOST_DELTA)
    if is_whole:
        return price.epsilon <= limit.epsilon
    return everyone_has_room(cohort, price, limit, _earlier(log, seen))


def _earlier(log: Log, seen: Snapshot) -> Iterator[tuple[Kept, list[Price]]]:
    """Every cohort, with what each of its charges cost."""
    charges: dict[int | None, list[Price]] = {}
    for one in seen.releases:
        charges.setdefault(seen.cohorts[one.id], []).append(Price(one.epsilon, one.delta))
    for number, kept in log.cohorts():
        yield kept, charges[number]


def no_room(payer: Account, price: Price, cohort: Cohort) -> BudgetError:
    """All that a refusal tells: neither who has no room nor how much is left."""
    unnamed = "" if cohort.by_patient else f" {UNNAMED}"
    return BudgetError(
        f"Not everyone in these records has room for ε = {shown(price.epsilon)} within the budget of "
        f"{shown(payer.budget)} for '{payer.name}'. Releases under this name have cost {shown(payer.spent)} before; "
        "releases under other names count for whom they share. Nothing was released. "
        f"Choose a smaller ε, or raise the budget {RAISE}.{unnamed}"
    )
