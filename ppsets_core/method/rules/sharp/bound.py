"""How many ranks the sharp rule loses at worst, Λ, and the least rank, n or ε that keeps a promise.

See docs/method.md#the-sharp-guarantee. Rounding is to the safe side: Λ is bounded from above by tangents
(`worst_case.bracket`), SLACK is added, which is far above the floating-point error of all that went in, and α is taken
as the decimal that it prints as; so no promise exceeds the proven one.
"""

import math
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from ppsets_core.method.rules.rule import least_float
from ppsets_core.method.rules.sharp.worst_case import SLACK, bracket, problems_of
from ppsets_core.validation import LARGEST_EPSILON, LARGEST_N, LEAST_EPSILON

RHO = Fraction(1, 2)  # a rank overshot counts as half a rank missing
LONGEST_PATH = 4096  # Y is exact up to as many ranks; beyond, its value there is a lower bound
TOGETHER = 400  # problems solved together cost hardly more than one
STEEPEST = 150.0  # a larger ε changes Λ by less than SLACK: it is 1, or 0


def rates(epsilon: float) -> tuple[float, float]:
    """The decay of the law per rank missing, ε' = ε/(1+ρ), and per rank overshot, η = ρε'."""
    return epsilon / float(1 + RHO), epsilon * float(RHO / (1 + RHO))


def lower(n: int, k: int, m: int, epsilon: float) -> float:
    """P(Y ∈ C(X)) ≥ (k + 1 − Λ)/(n+1), for k > n 1 − Λ/(n+1), whatever the data; rounded down."""
    return max(0.0, float(min(k, n) + 1 - loss(n, n - k, m, epsilon)) / (n + 1))


def least_rank(n: int, alpha: float, epsilon: float, m: int) -> int | None:
    """k*: the least k ≤ n with lower ≥ 1−α, or None: then only the trivial answer keeps the promise."""
    rank = int(least_ranks(n, alpha, epsilon, [m], n)[0])
    return rank if rank <= n else None


def least_class_rank(n: int, alpha: float, epsilon: float, m: int) -> int:
    """The least k, above n if need be, with lower ≥ 1−α: a class of n records, n ≥ 0, drawn with this ε."""
    return int(least_ranks(n, alpha, epsilon, [m])[0])


def least_ranks(n: int, alpha: float, epsilon: float, m: ArrayLike, limit: float = math.inf) -> np.ndarray:
    """The least k with lower ≥ 1−α for each of several m; limit + 1 where it is above the limit.

    Λ does not fall with k, so the k that a Λ found below the least k needs is no larger: after two such steps up from
    Λ = 0 most have arrived. The others are sectioned, at several k together.
    """
    m = np.asarray(m, dtype=float)
    whole, part = share(n + 1, alpha)
    missing = rates(epsilon)[0]
    tail = 1 / -math.expm1(-missing)
    high = np.maximum(n + 1 - whole + np.log(m) / missing + tail, n + np.log(m * tail / (whole + part)) / missing)
    high = np.minimum(np.ceil(high) + 1, limit + 1)  # enough: by the bound (k − D(k))/N, by Λ_s ≤ Σ_{t≥s} (m−1)e^{−ε't}
    low = np.minimum(max(n - whole - 1, 0), high - 1)  # every k ≤ low is too small
    step = 0
    while (left := np.flatnonzero(high - low > 1)).size:
        sections = 2 + (step > 1) * (TOGETHER // left.size)
        widths = (high - low)[left, None] * (np.arange(1, sections) / sections)
        k = low[left, None] + (1 if step < 2 else np.maximum(np.floor(widths), 1))
        room = whole - np.maximum(n - k, 0) + part
        at_least, at_most = bounds(n, n - k, m[left, None], epsilon, room)
        high[left] = np.where(at_most <= room, k, high[left, None]).min(axis=1)
        needed = np.where(k <= n, np.minimum(n - whole + np.ceil(at_least - part - SLACK), n + 1), 0)
        needed = np.minimum(np.where(at_most <= room, 0, np.maximum(needed - 1, k)), high[left, None] - 1)
        low[left] = np.maximum(low[left], needed.max(axis=1))
        step += 1
    return high.astype(np.int64)


def share(count: int, alpha: float) -> tuple[int, float]:
    """α·count as a whole number and a remainder, exactly, α being the decimal that it prints as."""
    exact = Fraction(Decimal(repr(float(alpha)))) * count
    whole = math.floor(exact)
    return whole, float(exact - whole)


@lru_cache(maxsize=256)
def path_minima(overshot: float) -> np.ndarray:
    """Y_0, Y_1, … by a shortest path, up to LONGEST_PATH or to where Y has stopped growing.

    Y_x is the lowest at x of the lines Y_p + x·e^{−η(p+2)}, p < x; their slopes fall with p and x only grows, so one
    pass along the lower envelope finds them all.
    """
    minima, lines, starts, current = [0.0], [(0.0, math.exp(-2 * overshot))], [0.0], 0
    for x in range(1, LONGEST_PATH + 1):
        while current + 1 < len(lines) and starts[current + 1] <= x:
            current += 1
        y = lines[current][0] + x * lines[current][1]
        if y - minima[-1] <= 1e-15 * y:
            break
        minima.append(y)
        slope = math.exp(-overshot * (x + 2))
        while len(lines) - 1 > current and y - lines[-1][0] <= starts[-1] * (lines[-1][1] - slope):
            lines.pop()
            starts.pop()
        starts.append((y - lines[-1][0]) / max(lines[-1][1] - slope, 1e-300))
        lines.append((y, slope))
    table = np.array(minima)
    table.flags.writeable = False
    return table


def loss(n: ArrayLike, spare: ArrayLike, m: ArrayLike, epsilon: float) -> np.ndarray:
    """Λ at k = n − spare, rounded up: of min(k, n) + 1 ranks at most so many are lost, whatever the data."""
    return bounds(n, spare, m, epsilon)[1]


def bounds(
    n: ArrayLike, spare: ArrayLike, m: ArrayLike, epsilon: float, room: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Λ from below and, rounded up, from above: within TIGHT + SLACK, or until both lie on one side of `room`.

    Takes n (infinity is allowed), Q = n − k and m, and broadcasts them. Up to k = n it is max(0, Λ₁, Λ₂). For k > n,
    Λ_s is Λ₁'s problem with (m−1)e^{−ε'(s−1)} for m−1, one B/(1+B) for two, no Y, and n+1 terms.
    """
    n, spare, m = (np.asarray(part, dtype=float) for part in np.broadcast_arrays(n, spare, m))
    shape, n, spare, m = n.shape, n.ravel(), spare.ravel(), m.ravel()
    missing, overshot = rates(min(epsilon, STEEPEST))
    path, over = path_minima(overshot) if (spare > 0).any() else np.zeros(1), spare < 0
    y = path[np.clip(spare, 0, len(path) - 1).astype(np.int64)]
    bins = (m - 1) * np.exp(-missing * np.maximum(-spare - 1, 0))
    within = np.flatnonzero(~over)
    problems = problems_of(missing, overshot, bins, y, np.where(over, n + 1, n - spare), 2.0 - over, within)
    goal = None if room is None else np.append(room, room.ravel()[within])
    below, above = bracket(problems, goal)
    for bound in (below, above):
        bound[within] = np.maximum(bound[within], bound[len(n) :])
    return tuple(np.maximum(bound[: len(n)], 0).reshape(shape) for bound in (below, above))


def smallest_n(alpha: float, epsilon: float, m: int) -> int | None:
    """The least n for which some k ≤ n keeps the promise; None above 10¹¹.

    k = n decides, as `lower` grows with k; its Λ grows with n, so the n that it needs is approached from below.
    """
    n = 1
    while n <= LARGEST_N:
        whole, part = share(n + 1, alpha)
        at_least, at_most = bounds(n, 0, m, epsilon)
        if at_most <= whole + part:
            return n
        n = max(n + 1, math.ceil(float(at_least) / alpha * (1 - 1e-12)) - 1)
    return None


def smallest_epsilon(n: int, alpha: float, m: int) -> float | None:
    """The least ε, to the last bit of a float, with which n records keep the promise; None where none does.

    More ε is not always better: Λ₂ grows towards 1 with it, so for α(n+1) < 1 only a stretch of ε may do, or none.
    """
    whole, part = share(n + 1, alpha)

    def enough(epsilon: float) -> bool:
        room = np.full(1, whole + part)
        return bool(bounds(n, [0], m, epsilon, room)[1] <= room)

    wide: tuple[float, ...] = (LARGEST_EPSILON, *np.geomspace(100, 1e-3, 100).tolist())
    if not whole and part > 0.5:
        wide = (*wide, rates(1.0)[1] ** -1 * math.log(part / (1 - part)) * (1 - 1e-8))  # Λ₂ = 1/(1+v) at m = 2
    high = next((epsilon for epsilon in wide if enough(epsilon)), None)
    return high and least_float(enough, LEAST_EPSILON, high)
