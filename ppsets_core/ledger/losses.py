"""What each patient has lost over all earlier releases, and whether everyone has room for another."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from ppsets_core.ledger.cohort import Cohort

_LARGEST = 2**62


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
    """ε and δ of a charge, or of several together."""

    epsilon: Decimal
    delta: Decimal = Decimal(0)


def everyone_has_room(cohort: Cohort, price: Price, limit: Price, earlier: Iterable[tuple[Kept, Price]]) -> bool:
    """Whether no unit would lose more than the limit. A patient of k records here loses k · ε; exact, in integers."""
    found = [(kept.times(cohort), cost) for kept, cost in earlier]
    found = [(times, cost) for times, cost in found if times.any()]
    epsilons = [(times, cost.epsilon) for times, cost in [*found, (cohort.counts, price)]]
    deltas = [((times > 0).astype(np.int64), cost.delta) for times, cost in [*found, (cohort.counts, price)]]
    return _within(epsilons, limit.epsilon) and _within(deltas, limit.delta)


def _within(parts: Sequence[tuple[np.ndarray, Decimal]], limit: Decimal) -> bool:
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
