"""Which threshold tells X-rays that are unlike the calibration's: the calibration's own τ̂, else a public reference."""

import math
from dataclasses import dataclass
from functools import cache

from ppsets_core.data.bundled import bundled_scores
from ppsets_core.errors import FileError
from ppsets_core.method.calibration import Drawn
from ppsets_core.method.intervals import beta_quantile
from ppsets_core.method.nonprivate import conformal_rank, nonprivate_threshold
from ppsets_core.method.plan import NoveltyPlan, NoveltyTarget
from ppsets_core.model.novelty import statistics_of

FALSE_ALARMS = 0.001
DELTA = FALSE_ALARMS / 3
CALIBRATION, REFERENCE = "the calibration", "the public reference (CoronaHack)"
BY_REFERENCE = (
    "This calibration has no threshold for novelty, so X-rays are compared with a public reference: the CoronaHack "
    "X-rays that the bundled scores are of, not your calibration's."
)
IMPOSSIBLE = "No alarm possible: the calibration had too few records to tell X-rays that are unlike its own."
NOTHING_ABOVE = (
    "No alarm possible: by chance the calibration's threshold for novelty came out above every X-ray. The more "
    "records there are, the less often that happens."
)
NOT_OF_THESE = "The novelty statistics are of other weights than these."
OTHER_WEIGHTS = f"Whether X-rays are like the calibration's cannot be told. {NOT_OF_THESE}"
UNKNOWN = "Whether these are like the calibration's cannot be told: nothing says how familiar they are."


@dataclass(frozen=True)
class Watch:
    """The threshold above which an X-ray is unlike those of `like`; None where it cannot be told, and `words` say why.

    `alpha`: the share of X-rays like those that is flagged on average; `rate`: what bounds it for this very threshold.
    """

    threshold: float | None
    like: str = CALIBRATION
    alpha: float = 0.0
    rate: float = 1.0
    words: str = ""

    @property
    def whose(self) -> str:
        """Those that X-rays are compared with, in two or three words."""
        return "the calibration's" if self.like == CALIBRATION else "the public reference's"

    def is_familiar(self, novelty: float | None) -> bool | None:
        """None where it cannot be told."""
        return None if self.threshold is None or novelty is None else novelty <= self.threshold

    def mark(self, familiar: bool | None) -> str:
        """How an X-ray that is not familiar is marked."""
        return f"Unlike {self.whose}" if familiar is False else ""


def watch_for(calibration: Drawn | float, model: str | None) -> Watch:
    """How X-rays that the model with this fingerprint classified are watched under a calibration."""
    if isinstance(calibration, Drawn) and (own := _calibrated(calibration, model)) is not None:
        return own
    return _reference(model) or Watch(None, words=UNKNOWN if model is None else OTHER_WEIGHTS)


def _calibrated(calibration: Drawn, model: str | None) -> Watch | None:
    planned = calibration.novelty
    if planned is None or calibration.is_for(model) is False:
        return None
    if not planned.is_possible:
        return Watch(None, words=IMPOSSIBLE)
    if calibration.novelty_threshold == 1:
        return Watch(None, words=NOTHING_ABOVE)
    rate = largest_rate(planned, calibration.n)
    return Watch(calibration.novelty_threshold, CALIBRATION, planned.alpha, rate)


def largest_rate(planned: NoveltyPlan, n: int) -> float:
    """p⁺: with probability 1 − 2δ at most this share of X-rays like the calibration's lies above τ̂.

    τ̂ misses at most t ranks with probability 1 − δ, and what lies above the score of a given rank follows a beta law.
    See docs/method.md#the-alarm-over-a-batch.
    """
    assert planned.rank is not None
    per_rank = planned.mechanism.decay[0]
    missing = max(0, math.ceil(math.log((planned.m - 1) / DELTA) / per_rank) - 1)
    return _largest_share(planned.rank - missing, n)


@cache
def _reference(model: str | None) -> Watch | None:
    """The ordinary 5% threshold of the bundled public records, for the weights that their novelty is of."""
    if model is None or statistics_of(model) is None:
        return None
    try:
        records = bundled_scores("calibration")
    except FileError:
        return None
    if records.novelty is None or records.model != model:
        return None
    alpha, n = NoveltyTarget.alpha, len(records)
    threshold = nonprivate_threshold(records.novelty, alpha)
    return Watch(threshold, REFERENCE, alpha, _largest_share(conformal_rank(n, alpha), n), BY_REFERENCE)


def _largest_share(rank: int, n: int) -> float:
    """What lies above the score of this rank of n, but for a probability of δ."""
    return beta_quantile(1 - DELTA, n + 1 - rank, rank) if 1 <= rank <= n else 1.0
