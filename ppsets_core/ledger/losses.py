"""What each patient has lost over all earlier releases, and whether everyone has room for another."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal

import numpy as np

from ppsets_core.ledger.amounts import total
from ppsets_core.ledger.cohort import Cohort

_LARGEST = 2**62
_FINEST = Decimal("1e-15")


@dataclass(frozen=True, eq=False)
class Kept:
    """A cohort as the ledger keeps it: patients, how many records each had, and the scores of records that name a
    patient and of those that name nobody; sorted hashes, each once, in no order that tells of the data."""

    named: np.ndarray
    counts: np.ndarray
    contents: np.ndarray
    nameless: np.ndarray

    @classmethod
    def of(cls, cohort: Cohort) -> "Kept":
        counts = cohort.counts[: len(cohort.named)].astype("<u4")
        known, unknown = (_each_once(cohort.contents[part]) for part in (cohort.patients > 0, cohort.patients == 0))
        return cls(cohort.named, counts, known, unknown)

    def times(self, cohort: Cohort) -> np.ndarray:
        """How many records of each unit of the other cohort were in this one.

        Patients are known by name. A record that names nobody, here or there, is known by its score, lest the same file
        without its column of patients had a budget of its own.
        """
        found = _among(cohort.contents, self.nameless)
        rest = cohort.patients == 0
        found[rest] |= _among(cohort.contents[rest], self.contents)
        times = np.bincount(cohort.unit_of, weights=found, minlength=len(cohort.counts)).astype(np.int64)
        if len(self.named):
            place = np.searchsorted(self.named, cohort.named) % len(self.named)
            times[: len(cohort.named)] += np.where(self.named[place] == cohort.named, self.counts[place], 0)
        return times


def _each_once(hashes: np.ndarray) -> np.ndarray:
    """Sorted; for millions of hashes, of which hardly two are alike, several times as fast as `np.unique`."""
    ordered = np.sort(hashes, axis=None)
    return ordered[np.diff(ordered, prepend=ordered[:1] - np.uint64(1)) != 0]


def _among(contents: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Whether each record's score, in either grid, is among those known."""
    found = np.zeros(len(contents), dtype=bool)
    for values in contents.T if len(known) else ():
        found |= known[np.searchsorted(known, values) % len(known)] == values
    return found


@dataclass(frozen=True)
class Price:
    """ε and δ that a charge costs for each record, or the most that anyone may lose."""

    epsilon: Decimal
    delta: Decimal = Decimal(0)

    def delta_of(self, records: int) -> Decimal:
        """δ for a patient of k records: k·e^((k−1)ε)·δ, rounded up, and 1 where it comes to more."""
        if not self.delta or not records:
            return Decimal(0)
        if records == 1:
            return self.delta
        exponent = math.log(self.delta) + math.log(records) + (records - 1) * float(self.epsilon)
        return Decimal(math.exp(min(exponent, 0)) * (1 + 1e-9)).quantize(_FINEST, ROUND_CEILING)


def everyone_has_room(
    cohort: Cohort, price: Price, limit: Price, earlier: Iterable[tuple[Kept, Sequence[Price]]]
) -> bool:
    """Whether no unit would lose more than the limit. A patient of k records here loses k · ε; exact, in integers."""
    found = [(kept.times(cohort), costs) for kept, costs in earlier]
    found = [(times, costs) for times, costs in found if times.any()] + [(cohort.counts, [price])]
    epsilons = [(times, total(cost.epsilon for cost in costs)) for times, costs in found]
    deltas = [part for times, costs in found for cost in costs if cost.delta for part in _deltas(times, cost)]
    return _within(epsilons, limit.epsilon) and _within(deltas, limit.delta)


def _deltas(times: np.ndarray, cost: Price) -> Iterator[tuple[np.ndarray, Decimal]]:
    """One part for each number of records that a patient may have, as δ is no multiple of it."""
    for records in np.unique(times[times > 0]).tolist():
        yield (times == records).astype(np.int64), cost.delta_of(records)


def _within(parts: Sequence[tuple[np.ndarray, Decimal]], limit: Decimal) -> bool:
    if not parts:
        return True
    *amounts, most = _integers([*(amount for _, amount in parts), limit])
    bound = sum(int(times.max(initial=0)) * amount for (times, _), amount in zip(parts, amounts, strict=True))
    if bound <= most:
        return True
    kind: type = np.int64 if bound < _LARGEST else object
    total: np.ndarray = np.zeros(len(parts[-1][0]), dtype=kind)
    for (times, _), amount in zip(parts, amounts, strict=True):
        total += times.astype(kind) * amount
    return bool((total <= most).all())


def _integers(amounts: Sequence[Decimal]) -> list[int]:
    """The amounts as multiples of their common last decimal place."""
    places = max(0, *(-int(amount.as_tuple().exponent) for amount in amounts))
    return [int(amount.scaleb(places)) for amount in amounts]
