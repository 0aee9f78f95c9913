"""The per-diagnosis ranks k(j), j = 0…n: the least k with lower(j, k) ≥ 1−α at the class's ε, in exact steps of 0 or 1.

They are kept by spare records Q = j − k(j), negative where k(j) > j: a table of the least count j that can spare Q.
Steps of 0 or 1 (docs/method.md#steps-of-0-or-1) mean that this count grows strictly with Q. It is made so in integers,
first(Q) = max(need(Q), first(Q′) + Q − Q′) for the entry Q′ before Q: then k(j) = j − max{Q: first(Q) ≤ j} steps by 0
or 1 for every j whatever rounding did to need(Q), and first(Q) ≥ need(Q) keeps the promise.

Between two entries Q′ < Q the table counts backwards from Q: first(Q) − 1, first(Q) − 2, … As need grows strictly, this
is never too small, and it is exact where first(Q) − first(Q′) = Q − Q′. Elsewhere the table is refined, up to
MOST_ENTRIES; one that reaches this limit keeps the promise with a few ranks more.
"""

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

import numpy as np

from ppsets_core.method.rules.sharp.bound import bounds, least_class_rank, loss, path_minima, rates, share

CHUNK = 2048  # spare records looked at together
MOST_ENTRIES = 2**15


@dataclass(frozen=True)
class ClassRanks:
    """k(j) for j = 0…n, from public numbers alone; n says how far the table reaches."""

    n: int
    alpha: float
    spare: np.ndarray  # Q, growing from that of j = 0, −k(0)
    first: np.ndarray  # the least count that can spare so many records
    settled: Fraction | None  # Λ from the table's last Q on, where it stops for that; then first(Q) is closed

    def rank(self, count: int) -> int:
        """k(count): never falls, and steps by at most 1."""
        if not 0 <= count <= self.n:
            raise ValueError(f"the count must lie between 0 and {self.n}")
        place = int(np.searchsorted(self.first, count, side="right"))
        spare = int(self.spare[place - 1])
        if place < len(self.first):
            spare = max(spare, int(self.spare[place]) - (int(self.first[place]) - count))
        elif self.settled is not None:
            affordable = math.floor(_decimal(self.alpha) * (count + 1) - self.settled)
            spare = max(spare, min(affordable, spare + count - int(self.first[-1])))
        return count - spare

    def ranks(self) -> np.ndarray:
        """k(0), k(1), … k(n)."""
        return np.array([self.rank(count) for count in range(self.n + 1)])


@lru_cache(maxsize=64)
def class_ranks(n: int, alpha: float, epsilon: float, m: int) -> ClassRanks:
    """The ranks of classes of 0…n records, each drawn with this ε, half of the release's."""
    settles = len(path_minima(rates(epsilon)[1])) - 1
    spare = np.unique([-least_class_rank(0, alpha, epsilon, m), n - least_class_rank(n, alpha, epsilon, m)])
    if spare[-1] > settles:
        spare = np.unique([spare[0], settles])
    need = np.append(0, _least_counts(n, alpha, epsilon, m, spare[1:]))
    while len(spare) < MOST_ENTRIES:
        steep = np.diff(need) > (widths := np.diff(spare))
        between = (spare[:-1] + widths // 2)[steep & (widths > 1)][: MOST_ENTRIES - len(spare)]
        if not len(between):
            break
        found = [_least_counts(n, alpha, epsilon, m, between[i : i + CHUNK]) for i in range(0, len(between), CHUNK)]
        places = np.searchsorted(spare, between)
        spare, need = np.insert(spare, places, between), np.insert(need, places, np.concatenate(found))
    first = np.maximum.accumulate(need - spare) + spare
    settled = None
    if spare[-1] == settles and first[-1] < n:
        settled = Fraction(float(loss(math.inf, settles, m, epsilon)))
    return ClassRanks(n, alpha, spare, first, settled)


def _least_counts(n: int, alpha: float, epsilon: float, m: int, spare: np.ndarray) -> np.ndarray:
    """For each Q the least count j with lower(j, j − Q) ≥ 1−α, or n + 1 if it is above n.

    What j can spare, j + 1 can (the step up). Λ grows with j at fixed Q up to that of endlessly many terms, where
    the search starts: mostly it or one less is the answer.
    """
    taken = np.maximum(spare, 0)
    endless = loss(math.inf, spare, m, epsilon)
    high = np.minimum(np.floor((taken + endless) / alpha) + 1, n + 1)
    low = np.maximum(np.ceil(taken / alpha * (1 - 1e-12)) - 2, spare)
    low, probe = np.minimum(np.maximum(low, -1), high - 1), high - 1
    step = 0
    while (left := np.flatnonzero(high - low > 1)).size:
        at = probe[left]
        shares = [share(int(j) + 1, alpha) for j in at]
        room = np.array([whole - int(q) + part for (whole, part), q in zip(shares, taken[left], strict=True)])
        at_least, at_most = bounds(at, spare[left], m, epsilon, room)
        enough = at_most <= room
        high[left[enough]] = at[enough]
        short = left[~enough]
        needed = np.floor((taken[short] + at_least[~enough]) / alpha * (1 - 1e-12)) - 1
        low[short] = np.maximum(at[~enough], np.minimum(needed - 1, high[short] - 1))
        step += 1
        probe = high - 1 if step < 2 else np.floor((low + high) / 2)
    return high.astype(np.int64)


def _decimal(alpha: float) -> Fraction:
    return Fraction(Decimal(repr(float(alpha))))
