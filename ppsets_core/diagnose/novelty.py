"""Unfamiliar X-rays: above which novelty they lie, and the alarm where a batch has too many.

Two thresholds: a public one, learnt from public X-rays that the bundled model was not trained on, which costs no ε and
always applies to that model; and the calibration's own τ̂, where one was released.
"""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from ppsets_core.data.bundled import bundled_scores
from ppsets_core.errors import FileError
from ppsets_core.method.bins import limit
from ppsets_core.method.calibration import BaseCalibration
from ppsets_core.method.check import beta_quantile, binomial_at_least
from ppsets_core.method.plan import Target
from ppsets_core.method.sets import conformal_rank, nonprivate_threshold
from ppsets_core.model.novelty import statistics_of

FALSE_ALARMS = 0.001
DELTA = FALSE_ALARMS / 3
PUBLIC_ALPHA = 0.03
"""Share of the public X-rays above the public threshold: 2.2% of the 500 for validation, 95% of 500 adults."""
TRAINED_ON, CALIBRATIONS = "the X-rays that this model was trained on", "your calibration's"
OUTSIDE = "Outside what this model was built for. Do not rely on this set."
NOT_OF_THESE = "The novelty statistics are of other weights than these."
OTHER_WEIGHTS = f"Unfamiliar X-rays cannot be recognised. {NOT_OF_THESE}"
UNKNOWN = "Unfamiliar X-rays cannot be recognised: there is no novelty for these."
ALL_FLAGGED = "All are flagged, so none was compared."
OFF = "The promised coverage cannot be relied on here."
CALIBRATE = "Calibrate with X-rays like these."


@dataclass(frozen=True)
class NoveltyThreshold:
    """The novelty above which an X-ray is unfamiliar.

    compared_with: whose X-rays are familiar, as in "unlike …".
    alpha: the share of such X-rays above it, on average. rate: an upper bound of that share for this very threshold.
    """

    value: float
    compared_with: str
    alpha: float
    rate: float

    def unlike(self, novelty: np.ndarray, half_precision: bool = False) -> np.ndarray:
        """Which X-rays lie above it. At most `alpha` is promised, so one at it but for rounding does not."""
        return novelty > limit(self.value, half_precision)


def novelty_thresholds(calibration: BaseCalibration, model: str | None) -> tuple[NoveltyThreshold, ...]:
    """The public threshold and the calibration's own, as far as there are, for X-rays that this model classified."""
    return tuple(one for one in (public_threshold(model), _private(calibration, model)) if one is not None)


def _private(calibration: BaseCalibration, model: str | None) -> NoveltyThreshold | None:
    """The calibration's own; None where it has none, had too few records for one, or drew one above every X-ray."""
    planned = calibration.novelty
    if planned is None or calibration.is_for(model) is False:
        return None
    value = calibration.novelty_threshold
    if planned.is_trivial or value is None or value == 1:
        return None
    return NoveltyThreshold(value, CALIBRATIONS, planned.alpha, largest_rate(planned, calibration.n))


def largest_rate(planned: Target, n: int) -> float:
    """p⁺: with probability 1 − 2δ at most this share of X-rays like the calibration's lies above τ̂.

    τ̂ misses at most t ranks with probability 1 − δ, and what lies above the score of a given rank follows a beta law.
    See docs/method.md#the-alarm-over-a-batch.
    """
    assert planned.rank is not None
    mechanism = planned.mechanism(n, n)
    assert mechanism is not None
    per_rank = mechanism.decay[0]
    missing = max(0, math.ceil(math.log((planned.m - 1) / DELTA) / per_rank) - 1)
    return _largest_share(planned.rank - missing, n)


@cache
def public_threshold(model: str | None) -> NoveltyThreshold | None:
    """The threshold from the bundled public records; None for other weights than those they are of."""
    if model is None or statistics_of(model) is None:
        return None
    try:
        records = bundled_scores("calibration")
    except FileError:
        return None
    if records.novelty is None or records.model != model:
        return None
    n, value = len(records), nonprivate_threshold(records.novelty, PUBLIC_ALPHA)
    return NoveltyThreshold(value, TRAINED_ON, PUBLIC_ALPHA, _largest_share(conformal_rank(n, PUBLIC_ALPHA), n))


def _largest_share(rank: int, n: int) -> float:
    """What lies above the score of this rank of n, but for a probability of δ."""
    return beta_quantile(1 - DELTA, n + 1 - rank, rank) if 1 <= rank <= n else 1.0


@dataclass(frozen=True)
class Alarm:
    """How many X-rays of a batch are unfamiliar, of how many, and whether that is more than chance explains.

    unlike: how many lie above each of `thresholds`. model: the fingerprint of the network that classified them.
    """

    unlike: tuple[int, ...]
    of: int
    thresholds: tuple[NoveltyThreshold, ...]
    flagged: int = 0
    model: str | None = None

    @property
    def exceeded(self) -> tuple[NoveltyThreshold, ...]:
        """The thresholds above which there are too many. Where the X-rays are like those that a threshold compares
        with, one of each patient, it is among them with probability 0.1% at most."""
        pairs = zip(self.unlike, self.thresholds, strict=True)
        return tuple(one for count, one in pairs if binomial_at_least(count, self.of, one.rate) < DELTA)

    @property
    def is_on(self) -> bool:
        return bool(self.exceeded)

    @property
    def words(self) -> str:
        """The counts and what follows from them; or why there are none."""
        if not self.of:
            known = self.thresholds and self.flagged
            return ALL_FLAGGED if known else OTHER_WEIGHTS if self.model and not self.thresholds else UNKNOWN
        counts = [self._count(*one) for one in zip(self.unlike, self.thresholds, strict=True)]
        remedy = CALIBRATE if [one.compared_with for one in self.exceeded] == [CALIBRATIONS] else ""
        return " ".join(filter(None, (*counts, OFF if self.is_on else "", remedy)))

    def _count(self, unlike: int, threshold: NoveltyThreshold) -> str:
        xrays, are = ("X-ray", "is") if self.of == 1 else ("X-rays", "is" if unlike == 1 else "are")
        number, without = round(threshold.alpha * self.of), f", without {self.flagged:,} flagged," * bool(self.flagged)
        expected = f"about {number:,} expected" if number else "fewer than 1 expected"
        return f"{unlike:,} of {self.of:,} {xrays}{without} {are} unlike {threshold.compared_with}; {expected}."

    def document(self) -> dict[str, object]:
        """For JSON; null is what cannot be known."""
        thresholds = [
            {
                "threshold": one.value,
                "compared with": one.compared_with,
                "unlike": count if self.of else None,
                "expected": one.alpha * self.of,
            }
            for count, one in zip(self.unlike, self.thresholds, strict=True)
        ]
        alarm = self.is_on if self.of else None
        return {"thresholds": thresholds, "of": self.of, "alarm": alarm, "note": self.words}
