"""Whether a charge may be made: within the public numbers, and with room for everyone in the cohort."""

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal

import numpy as np

from ppsets_core.errors import BudgetError, InputError
from ppsets_core.ledger.accounts import Account, Snapshot
from ppsets_core.ledger.amounts import EXACT, Price, difference, shown, total
from ppsets_core.ledger.cohort import Cohort, StoredCohort
from ppsets_core.ledger.store import Log

RAISE = "on the Ledger screen or with `ppsets ledger raise NAME BUDGET`"
UNNAMED = (
    "These records name no patients, so records of the same score count as one person: "
    "a column `patient`, in this file and in others that are charged, tells them apart."
)
MOST_REFUSALS = 10
"""A refusal reveals that someone was charged before; after this many, the account answers only a raised budget."""
MOST_DELTA = Decimal("0.01")
"""The largest chance, over all private trainings together, that a patient's ε does not hold."""
_LARGEST_INT64_SUM = 2**62


def price_of(cohort: Cohort, epsilon: Decimal, delta: float) -> Price:
    """What a record costs: a public number, for it is stored and exported."""
    price = Price(epsilon, Decimal(repr(float(delta))) if delta else Decimal(0))
    if price.delta_of(int(cohort.counts.max(initial=0))) > MOST_DELTA:
        raise InputError(
            f"δ, as it counts for a patient of several X-rays, comes to more than {MOST_DELTA}. Nothing was charged. "
            "Choose a smaller ε or δ, or give one X-ray of each patient."
        )
    return price


def check_open(seen: Snapshot, payer: Account, price: Price) -> None:
    """Refuse what public numbers alone refuse."""
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


def has_room(log: Log, seen: Snapshot, payer: Account, cohort: Cohort, price: Price) -> bool:
    """Whether everyone can pay within the payer's budget, given all that they were charged under any name.

    A charge for too many patients to list counts for everyone released under its account's name or in the same data
    set. A cohort that is itself too large counts as in all other charges of its account.
    """
    owners = {payer.name, *seen.owners.get(cohort.name, ())}
    is_whole = cohort.counted_by == "data set"
    lost = total(
        one.epsilon
        for one in seen.releases
        if (one.account in owners and seen.cohorts[one.id] is None) or (is_whole and one.account == payer.name)
    )
    limit = Price(difference(payer.budget, lost), MOST_DELTA)
    if is_whole:
        return price.epsilon <= limit.epsilon
    return _everyone_has_room(cohort, price, limit, _earlier(log, seen))


def _earlier(log: Log, seen: Snapshot) -> Iterator[tuple[StoredCohort, list[Price]]]:
    """Every cohort, with what each of its charges cost."""
    charges: dict[int | None, list[Price]] = {}
    for one in seen.releases:
        charges.setdefault(seen.cohorts[one.id], []).append(Price(one.epsilon, one.delta))
    for number, stored in log.cohorts():
        yield stored, charges[number]


def _everyone_has_room(
    cohort: Cohort, price: Price, limit: Price, earlier: Iterable[tuple[StoredCohort, Sequence[Price]]]
) -> bool:
    """Whether no unit would lose more than the limit. A patient with k records here loses k · ε; exact, in integers."""
    found = [(stored.times(cohort), costs) for stored, costs in earlier]
    found = [(times, costs) for times, costs in found if times.any()] + [(cohort.counts, [price])]
    epsilons = [(times, total(cost.epsilon for cost in costs)) for times, costs in found]
    deltas = [part for times, costs in found for cost in costs if cost.delta for part in _deltas(times, cost)]
    return _within(epsilons, limit.epsilon) and _within(deltas, limit.delta)


def _deltas(times: np.ndarray, cost: Price) -> Iterator[tuple[np.ndarray, Decimal]]:
    """One part per number of records: δ is not proportional to it."""
    for records in np.unique(times[times > 0]).tolist():
        yield (times == records).astype(np.int64), cost.delta_of(records)


def _within(parts: Sequence[tuple[np.ndarray, Decimal]], limit: Decimal) -> bool:
    if not parts:
        return True
    *amounts, most = _integers([*(amount for _, amount in parts), limit])
    bound = sum(int(times.max(initial=0)) * amount for (times, _), amount in zip(parts, amounts, strict=True))
    if bound <= most:
        return True
    kind: type = np.int64 if bound < _LARGEST_INT64_SUM else object
    total: np.ndarray = np.zeros(len(parts[-1][0]), dtype=kind)
    for (times, _), amount in zip(parts, amounts, strict=True):
        total += times.astype(kind) * amount
    return bool((total <= most).all())


def _integers(amounts: Sequence[Decimal]) -> list[int]:
    """The amounts as multiples of their common last decimal place."""
    places = max(0, *(-int(amount.as_tuple().exponent) for amount in amounts))
    return [int(amount.scaleb(places, EXACT)) for amount in amounts]


def no_room(payer: Account, price: Price, cohort: Cohort) -> BudgetError:
    """The refusal; it reveals neither who has no room nor how much is left."""
    unnamed = "" if cohort.by_patient else f" {UNNAMED}"
    return BudgetError(
        f"Not everyone in these records has room for ε = {shown(price.epsilon)} within the budget of "
        f"{shown(payer.budget)} for '{payer.name}'. Releases under this name have cost {shown(payer.spent)} before; "
        "releases under other names count for whom they share. Nothing was released. "
        f"Choose a smaller ε, or raise the budget {RAISE}.{unnamed}"
    )
