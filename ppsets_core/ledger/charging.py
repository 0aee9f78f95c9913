"""Whom a charge counts for, and whether all of them have room for it within a budget. See docs/method.md#budget.

People are keyed hashes of names. They can be computed batch by batch, in any order and on any machine, and added up.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Protocol

import numpy as np

from ppsets_core.data.counts import CHANGED
from ppsets_core.data.records import Records, hash_names
from ppsets_core.errors import BudgetError, FileError, InputError
from ppsets_core.files.names import same_names
from ppsets_core.ledger.accounts import Account, Snapshot
from ppsets_core.ledger.amounts import EXACT, MOST_DELTA, Price, shown, total
from ppsets_core.ledger.store import Log
from ppsets_core.method.counts import Counts, CoverageCounts

MOST_RECORDS = 10**7
"""Of more records the ledger does not list the patients: the charge counts for everyone in the account."""
RAISE = (
    "ask a steward to raise the budget (where nobody logs in that is you: on the Ledger screen, or with "
    "`ppsets ledger raise NAME BUDGET`)"
)
MOST_REFUSALS = 10
"""A refusal reveals that someone was charged before; after this many, the account answers only a raised budget."""
_LARGEST_INT64_SUM = 2**62
_NOBODY = np.zeros(1, dtype="<u8")


# People


@dataclass(frozen=True, eq=False)
class Cohort:
    """Whom a release is charged to.

    hashes: of each record's patient; 0 where it names nobody.
    by_patient: whether a column names patients and the ledger lists them; otherwise there are no hashes.
    """

    hashes: np.ndarray
    by_patient: bool

    def __add__(self, other: "Cohort") -> "Cohort":
        """All records of both: batches of one data set."""
        return Cohort(np.concatenate([self.hashes, other.hashes]), self.by_patient and other.by_patient)

    @cached_property
    def people(self) -> "People":
        named, counts = np.unique(self.hashes[self.hashes > 0], return_counts=True)
        return People(named, counts, self.by_patient and bool(self.hashes.all()))

    @property
    def counted_by(self) -> str:
        """Decided by the columns and the number of records alone, for it is exported."""
        return "patient" if self.by_patient else "account"


@dataclass(frozen=True, eq=False)
class People:
    """The patients of a charge as sorted hashes, which reveal nothing about the order of the data.

    named, counts: each patient once, and how many of the records are theirs.
    are_all: whether every record names its patient. If not, the charge counts for everyone, as one record at least.
    """

    named: np.ndarray
    counts: np.ndarray
    are_all: bool

    def times(self, people: np.ndarray) -> np.ndarray:
        """How many records each of some people has here."""
        if not len(self.named):
            return np.zeros(len(people), dtype=np.int64)
        place = np.searchsorted(self.named, people) % len(self.named)
        return np.where(self.named[place] == people, self.counts[place], 0).astype(np.int64)

    @property
    def cells(self) -> tuple[bytes, ...]:
        """The row of the ledger's table; its third cell is of an earlier version."""
        return (
            self.named.astype("<u8").tobytes(),
            self.counts.astype("<u4").tobytes(),
            b"",
            b"" if self.are_all else b"0",
        )

    @classmethod
    def of_cells(cls, named: bytes, counts: bytes, _: bytes, nameless: bytes) -> "People":
        """Read a row; where an earlier version recognised records by their scores, it left some records unnamed."""
        return cls(np.frombuffer(named, "<u8"), np.frombuffer(counts, "<u4"), not nameless)


def cohort_of(counts: Counts | CoverageCounts) -> Cohort:
    """Whom the counts are of; one record of each patient where that was chosen before."""
    if counts.unit == "patient" and counts.cohort.people.counts.max(initial=0) > 1:
        raise FileError(CHANGED.format(source=counts.source))
    return counts.cohort


class CohortBuilder:
    """Accumulates the cohort of records that come in batches. `listed`: whether the ledger lists their patients."""

    def __init__(self, key: bytes, *, listed: bool = True) -> None:
        self._key, self._by_patient = key, listed
        self._hashes = [np.empty(0, dtype="<u8")]

    def add(self, records: Records) -> None:
        self._by_patient = self._by_patient and records.patients is not None
        if self._by_patient and records.patients is not None:
            self._hashes.append(patient_hashes(self._key, records.patients.tolist()))

    def total(self) -> Cohort:
        return Cohort(np.concatenate(self._hashes[: None if self._by_patient else 1]), self._by_patient)


def patient_hashes(key: bytes, patients: Sequence[str]) -> np.ndarray:
    """One hash for all spellings of a name; 0 for no name."""
    begun = hashlib.blake2b(key=hashlib.sha256(b"patient:" + key).digest(), digest_size=8)
    return np.frombuffer(hash_names(begun, same_names(patients), 8), dtype="<u8")


class Nameable(Protocol):
    """What is said of records or X-rays before they are charged."""

    def __len__(self) -> int: ...

    @property
    def has_patients(self) -> bool: ...

    @property
    def names_everyone(self) -> bool: ...


def note_on_everyone(records: Nameable, account: str) -> str:
    """What to say before these records are charged if the charge will count for everyone in the account; else ''."""
    if len(records) > MOST_RECORDS:
        why = f"More than {MOST_RECORDS:,} records are too many to list their patients"
    elif not records.has_patients:
        why = "These records name no patients"
    elif not records.names_everyone:
        why = "Some of these records name no patient"
    else:
        return ""
    return (
        f"{why}, so ε counts for everyone in '{account}', once. It protects each unnamed record, not each person: "
        "somebody with several loses more, and other accounts do not count them. Name everyone in a column `patient`."
    )


# Room


def price_of(cohort: Cohort, epsilon: Decimal, delta: float) -> Price:
    """What a record costs: a public number, for it is stored and exported."""
    price = Price(epsilon, Decimal(repr(float(delta))) if delta else Decimal(0))
    if price.delta_of(int(cohort.people.counts.max(initial=1))) > MOST_DELTA:
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
            f"Nothing was released. Choose a smaller ε, or {RAISE}."
        )
    refused = [one for one in seen.refusals if (one.account, one.budget) == (payer.name, payer.budget)]
    if len(refused) >= MOST_REFUSALS:
        raise BudgetError(
            f"'{payer.name}' was refused {len(refused)} times since its budget was set, and each refusal tells that "
            f"someone was charged before. Nothing was released. To ask again, {RAISE}."
        )


def has_room(log: Log, seen: Snapshot, payer: Account, cohort: Cohort, price: Price) -> bool:
    """Whether everyone for whom the charge counts stays within the payer's budget.

    A person's loss is all charges of any account that name them, and all charges of this account that count for
    everyone. A charge that counts for everyone is checked for all whom the account ever named, and for a person whom it
    never did.
    """
    here = cohort.people
    affected = here.named if here.are_all else _everyone(log, seen, payer, here)
    found = [(_times(here, affected, here=True), [price])]
    for number, cells in log.cohorts():
        people, charged = People.of_cells(*cells), seen.charges[number]
        for is_here in (True, False):
            costs = [Price(one.epsilon, one.delta) for one in charged if (one.account == payer.name) == is_here]
            times = _times(people, affected, here=is_here)
            found += [(times, costs)] if times.any() else []
    for_everyone = [one for one in seen.charges.get(None, ()) if one.account == payer.name]
    found.append((np.ones(len(affected), dtype=np.int64), [Price(one.epsilon, one.delta) for one in for_everyone]))
    epsilons = [(times, total(cost.epsilon for cost in costs)) for times, costs in found]
    deltas = [part for times, costs in found for cost in costs if cost.delta for part in _deltas(times, cost)]
    return _within(epsilons, payer.budget) and _within(deltas, MOST_DELTA)


def _everyone(log: Log, seen: Snapshot, payer: Account, here: People) -> np.ndarray:
    """All whom the account ever named, those named now, and a person of no name."""
    known = [
        People.of_cells(*cells).named
        for number, cells in log.cohorts()
        if any(release.account == payer.name for release in seen.charges[number])
    ]
    return np.unique(np.concatenate([_NOBODY, here.named, *known]))


def _times(people: People, affected: np.ndarray, *, here: bool) -> np.ndarray:
    """How often a charge counts for each; `here`: whether it is the payer's, and counts for everyone where unnamed."""
    times = people.times(affected)
    return np.maximum(times, 1) if here and not people.are_all else times


def _deltas(times: np.ndarray, cost: Price) -> Iterator[tuple[np.ndarray, Decimal]]:
    """One part per number of records: δ is not proportional to it."""
    for records in np.unique(times[times > 0]).tolist():
        yield (times == records).astype(np.int64), cost.delta_of(records)


def _within(parts: Sequence[tuple[np.ndarray, Decimal]], limit: Decimal) -> bool:
    """Whether no one's sum of times · amount is above the limit; exact, in integers."""
    *amounts, most = _integers([*(amount for _, amount in parts), limit])
    bound = sum(int(times.max(initial=0)) * amount for (times, _), amount in zip(parts, amounts, strict=True))
    if bound <= most:
        return True
    kind: type = np.int64 if bound < _LARGEST_INT64_SUM else object
    lost: np.ndarray = np.zeros(len(parts[0][0]), dtype=kind)
    for (times, _), amount in zip(parts, amounts, strict=True):
        lost += times.astype(kind) * amount
    return bool((lost <= most).all())


def _integers(amounts: Sequence[Decimal]) -> list[int]:
    """The amounts as multiples of their common last decimal place."""
    places = max(0, *(-int(amount.as_tuple().exponent) for amount in amounts))
    return [int(amount.scaleb(places, EXACT)) for amount in amounts]


def no_room(payer: Account, price: Price, cohort: Cohort) -> BudgetError:
    """The refusal; it reveals neither who has no room nor how much is left."""
    whom = (
        "in these records"
        if cohort.by_patient
        else f"in '{payer.name}', for whom these records count as they name none,"
    )
    return BudgetError(
        f"Not everyone {whom} has room for ε = {shown(price.epsilon)} within the budget of {shown(payer.budget)} for "
        f"'{payer.name}'. Releases under this name have cost {shown(payer.spent)} before; releases under other names "
        f"count for the patients they name. Nothing was released. Choose a smaller ε, or {RAISE}."
    )
