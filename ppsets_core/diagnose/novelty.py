"""Unfamiliar X-rays: the threshold of novelty above which they lie, and the alarm where a batch has too many.

The threshold is the calibration's own τ̂, else that of a public reference.
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
from ppsets_core.method.plan import NOVELTY_ALPHA, Target
from ppsets_core.method.sets import conformal_rank, nonprivate_threshold
from ppsets_core.model.novelty import statistics_of

FALSE_ALARMS = 0.001
DELTA = FALSE_ALARMS / 3
CALIBRATION, REFERENCE = "the calibration", "the public reference (CoronaHack)"
BY_REFERENCE = (
    "This calibration has no novelty threshold that can be used, so X-rays are compared with a public reference: the "
    "CoronaHack X-rays of the bundled scores, not those of your calibration."
)
NOT_OF_THESE = "The novelty statistics are of other weights than these."
OTHER_WEIGHTS = f"Unfamiliar X-rays cannot be recognised. {NOT_OF_THESE}"
UNKNOWN = "Unfamiliar X-rays cannot be recognised: there is no novelty for these."
OFF = "The promised coverage cannot be relied on here. Calibrate with X-rays like these."
UNFAMILIAR = "Unfamiliar"


@dataclass(frozen=True)
class NoveltyThreshold:
    """The novelty above which an X-ray is unfamiliar.

    value: None where it cannot be known; `words` say why.
    compared_with: whose X-rays are familiar.
    alpha: the share of such X-rays above it, on average. rate: an upper bound of that share for this very threshold.
    """

    value: float | None
    compared_with: str = CALIBRATION
    alpha: float = 0.0
    rate: float = 1.0
    words: str = ""

    def unfamiliar(self, novelty: np.ndarray | None, half_precision: bool = False) -> np.ndarray | None:
        """Which X-rays are unfamiliar; None where that cannot be known. At most `alpha` is promised, so one at the
        threshold but for rounding is not."""
        return None if self.value is None or novelty is None else novelty > limit(self.value, half_precision)


def novelty_threshold_for(calibration: BaseCalibration, model: str | None) -> NoveltyThreshold:
    """The threshold for X-rays that the model with this fingerprint classified, under a calibration."""
    own = _calibrated(calibration, model)
    return own or _reference(model) or NoveltyThreshold(None, words=UNKNOWN if model is None else OTHER_WEIGHTS)


def _calibrated(calibration: BaseCalibration, model: str | None) -> NoveltyThreshold | None:
    """The calibration's own; None where it has none, had too few records for one, or drew one above every X-ray."""
    planned = calibration.novelty
    if planned is None or calibration.is_for(model) is False:
        return None
    if planned.is_trivial or calibration.novelty_threshold == 1:
        return None
    rate = largest_rate(planned, calibration.n)
    return NoveltyThreshold(calibration.novelty_threshold, CALIBRATION, planned.alpha, rate)


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
def _reference(model: str | None) -> NoveltyThreshold | None:
    """The ordinary 5% threshold of the bundled public records, for the weights that their novelty is of."""
    if model is None or statistics_of(model) is None:
        return None
    try:
        records = bundled_scores("calibration")
    except FileError:
        return None
    if records.novelty is None or records.model != model:
        return None
    alpha, n = NOVELTY_ALPHA, len(records)
    threshold = nonprivate_threshold(records.novelty, alpha)
    return NoveltyThreshold(threshold, REFERENCE, alpha, _largest_share(conformal_rank(n, alpha), n), BY_REFERENCE)


def _largest_share(rank: int, n: int) -> float:
    """What lies above the score of this rank of n, but for a probability of δ."""
    return beta_quantile(1 - DELTA, n + 1 - rank, rank) if 1 <= rank <= n else 1.0


@dataclass(frozen=True)
class Alarm:
    """How many X-rays of a batch are unfamiliar, of how many, and whether that is more than chance explains."""

    unfamiliar: int
    of: int
    threshold: NoveltyThreshold

    @property
    def is_on(self) -> bool:
        """For X-rays like the calibration's, one of each patient, it is on with probability 0.1% at most."""
        return binomial_at_least(self.unfamiliar, self.of, self.threshold.rate) < DELTA

    @property
    def expected(self) -> float:
        return self.threshold.alpha * self.of

    @property
    def words(self) -> str:
        """The count, what follows from it, and what the X-rays were compared with; or why they cannot be."""
        if not self.of:
            return self.threshold.words if self.threshold.value is None else UNKNOWN
        xrays, are = ("X-ray", "is") if self.of == 1 else ("X-rays", "is" if self.unfamiliar == 1 else "are")
        number = round(self.expected)
        expected = f"about {number:,} expected" if number else "fewer than 1 expected"
        count = f"{self.unfamiliar:,} of {self.of:,} {xrays} {are} unfamiliar compared with "
        count += f"{self.threshold.compared_with}; {expected}."
        return " ".join(filter(None, (count, OFF if self.is_on else "", self.threshold.words)))

    def document(self) -> dict[str, object]:
        """For JSON; None is what cannot be known."""
        known = self.threshold.value is not None
        batch = {"unfamiliar": self.unfamiliar, "of": self.of, "expected": self.expected}
        return {
            "threshold": self.threshold.value,
            "compared with": self.threshold.compared_with if known else None,
            "batch": batch if self.of else None,
            "alarm": self.is_on if self.of else None,
            "note": self.words,
        }
