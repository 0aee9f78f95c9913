"""The maximum over B and z_t that bounds what the sharp rule can lose: many such problems at once.

See docs/method.md#computing-the-bound. In y = B/(1+qB) and x_t = z_t/(1+qB) each is jointly concave, caps and budget
are linear, w = 1/(1+qB) = 1 − qy.
"""

import math
from dataclasses import dataclass

import numpy as np

SLACK = 1e-9  # ranks added to a bound from above, for rounding
TIGHT = 1e-10  # ranks between the two bounds on a maximum
MOST_STEPS = 200


@dataclass(frozen=True)
class Problems:
    """Maximise (gain·B − Y)/(β+B) + Σ_t z_t/(1+qB+(1−q)z_t) with z_t ≤ B − spare for t = 2 − spare … last, while
    B·e^{ε'(1−spare)} + Σ_t (1−q)e^{ε't} z_t ≤ bins. Λ₁ and Λ_s have spare = 0, Λ₂ has spare = 1."""

    missing: float  # ε'
    columns: np.ndarray  # bins, Y, last, gain, β, spare, one row each

    @property
    def q(self) -> float:
        return math.exp(-self.missing)

    def take(self, which: np.ndarray) -> "Problems":
        return Problems(self.missing, self.columns[:, which])

    def span(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The least y, a y just above it, where slopes are finite, and the largest y."""
        bins, _, _, _, _, spare = self.columns
        largest = bins * self.q ** (1 - spare)
        least = np.minimum(spare, largest)
        least, low, high = (b / (1 + self.q * b) for b in (least, least + 1e-9 * (largest - least), largest))
        return least, low, high

    def end_with_bins(self, high: np.ndarray, slope: np.ndarray) -> np.ndarray:
        """Whether the maximum of Λ₂ is surely at B = bins, its slope there being well above its rounding."""
        _, path, _, _, beta, spare = self.columns
        rise = (beta + path) / (beta * (1 - self.q * high) + high) ** 2
        return (spare > 0) & (slope > 1e-6 * rise)

    def tangent(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The value at y and a slope: a line that nowhere lies below the maximum over the z_t.

        z_t is at its cap up to T, the last that the budget affords, or T−1; then come at most two between, the rest
        are 0. λ makes these spend the whole budget. For a fixed λ the dual is concave in y and nowhere below the
        maximum; its tangent is the line.
        """
        bins, path, last, gain, beta, spare = self.columns
        q, c, step = self.q, -math.expm1(-self.missing), math.exp(self.missing / 2)
        lead = math.expm1(self.missing / 2) / c
        w = 1 - q * y
        end = beta * w + y
        unit = np.where(spare > 0, 1.0, step * step)
        cap = np.maximum(y - spare * w, 1e-100)
        budget = np.maximum(bins * w - unit * y, 0)
        capped = np.floor(np.log(np.minimum(unit + budget / cap, 1e100)) / self.missing)
        capped = np.minimum(np.maximum(capped, 1 - spare), last)
        some, more = capped > 1 - spare, capped < last
        weight = np.exp(self.missing * capped)
        cost = c * weight  # of T; T+1 costs step² and T+2 step⁴ times as much
        rest = np.maximum(budget - cap * (weight - unit), 0) / cost
        alone = rest / step**2
        up = (capped + 1 < last) & (alone > lead)
        down = some & more & ~up & (lead + step * alone < cap)
        rest = np.where(down, rest + cap, alone)
        early = np.where(up | down, (rest + step * lead) / (1 + step), alone)
        late = np.where(up | down, (rest - lead) / (step * (1 + step)), 0.0)
        x = np.where(some & ~down, cap, 0.0)
        x_early, x_late = np.where(more, early, 0.0), np.where(more, late, 0.0)
        before = np.maximum(capped - (2 - spare), 0)
        shrink = 1 / (1 + c * cap)
        value = (gain * y - path * w) / end + before * cap * shrink
        for part in (x, x_early, x_late):
            value = value + part / (1 + c * part)
        multiplier = np.where(more, 1 / (np.where(down, 1, step**2) * cost * (1 + c * early) ** 2), 0.0)
        steep = shrink * shrink
        pull = before * steep + some * (np.maximum(steep - multiplier * cost, 0) - multiplier * (q * weight - unit))
        slope = (gain * beta + path) / end**2 - multiplier * (bins * q + unit) + (1 + spare * q) * pull
        return value, slope


def problems_of(
    missing: float,
    overshot: float,
    bins: np.ndarray,
    path: np.ndarray,
    last: np.ndarray,
    gain: np.ndarray,
    within: np.ndarray,
) -> Problems:
    """A problem of spare 0 for every entry, then one of spare 1 for each entry in `within`."""
    first = (bins, path, last, gain, np.ones_like(bins), np.zeros_like(bins))
    ones = np.ones(len(within))
    second = (bins[within], path[within], last[within], ones, math.exp(-overshot) * ones, ones)
    return Problems(missing, np.array([np.append(a, b) for a, b in zip(first, second, strict=True)]))


def bracket(problems: Problems, room: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Bounds from below and, rounded up, from above: within TIGHT + SLACK, or until both lie on one side of `room`.

    A rising and a falling tangent meet above the maximum: the bound from above. Where they meet is tried next (a kink
    is found at once), or where the slopes' secant vanishes (a smooth top is found fast), in place of one of the two.
    """
    least, low, high = problems.span()
    (value_low, slope_low), (value_high, slope_high) = problems.tangent(low), problems.tangent(high)
    below = np.maximum(value_low, value_high)
    ended = problems.end_with_bins(high, slope_high)
    above = np.where(slope_low <= 0, value_low - slope_low * (low - least), value_high)
    left = np.flatnonzero((slope_low > 0) & (slope_high < 0))
    state = np.array([low, value_low, slope_low, high, value_high, slope_high])[:, left]
    problems = problems.take(left)
    for step in range(MOST_STEPS):
        low, value_low, slope_low, high, value_high, slope_high = state
        bend = slope_low - slope_high
        meet = np.minimum(np.maximum(low + (value_high - value_low - slope_high * (high - low)) / bend, low), high)
        best = np.maximum(value_low, value_high)
        top = np.minimum(value_low + slope_low * (meet - low), value_high + slope_high * (meet - high))
        top = np.maximum(top, best)
        below[left], above[left] = best, top
        open_ = top - best > TIGHT * (1 + np.abs(top))
        if room is not None:
            goal = room[left]
            open_ &= (best <= goal) & (top > goal - 2 * TIGHT * (10 + np.abs(top)) - 1e-13 / problems.missing) | (
                top - best > 0.3
            )
        if not open_.any():
            break
        if not open_.all():
            left, state, meet, problems = left[open_], state[:, open_], meet[open_], problems.take(open_)
            low, value_low, slope_low, high, value_high, slope_high = state
        if step % 3 == 1:
            meet = low + (high - low) * np.clip(slope_low / (slope_low - slope_high), 0.02, 0.98)
        elif step % 6 == 5:
            meet = (low + high) / 2
        value, slope = problems.tangent(meet)
        state = np.where(
            slope > 0,
            [meet, value, slope, high, value_high, slope_high],
            [low, value_low, slope_low, meet, value, slope],
        )
    return below, _rounded_up(above, ended, problems.missing)


def _rounded_up(above: np.ndarray, ended: np.ndarray, missing: float) -> np.ndarray:
    """SLACK added, and 10⁻¹³/ε', as steps of ε' in an exponent become hard to tell from rounding. But where B = m−1 is
    the best, Λ₂ = (m−1−Y)/(m−1+v) is at most 1, and no rounding changes that."""
    above = above + SLACK + 1e-13 / missing + TIGHT * np.abs(above)
    return np.where(ended, np.minimum(above, 1.0), above)
