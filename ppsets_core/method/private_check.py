"""How many patients were covered, with ε-differential privacy: noisy counts, and intervals that count the noise."""

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ppsets_core.errors import InputError
from ppsets_core.method.calibration import BaseCalibration, check_binding, now
from ppsets_core.method.calibration_json import write_calibration
from ppsets_core.method.check import CONFIDENCE
from ppsets_core.method.counts import CoverageCounts
from ppsets_core.method.plan import DIAGNOSIS
from ppsets_core.method.rules.mechanism import scale_for
from ppsets_core.method.rules.rule import least_float
from ppsets_core.validation import check_alpha, check_epsilon, check_n, check_names

CHECK = "check"
ON_THE_SIZE = 0.01  # of the 5% that an interval may miss, what the unknown size of a diagnosis takes


@dataclass(frozen=True, kw_only=True)
class PrivateCheck:
    """A release: noisy counts of the covered, and by diagnosis of the missed too, since its size is private.

    A replaced record moves one overall count by 1, and two of the counts by diagnosis by 1 each: noise of scale 1/ε
    and 2/ε. `alpha` and `checked` (a digest) say which calibration was held against the labels.
    """

    n: int
    epsilon: float
    alpha: float
    per: str | None
    classes: tuple[str, ...]
    covered: tuple[int, ...]
    missed: tuple[int, ...]
    unit: str
    model: str | None
    checked: str
    dataset: str | None
    date: str

    @property
    def scale(self) -> float:
        return scale_for(self.epsilon, _sensitivity(self.per))

    def intervals(self, confidence: float = CONFIDENCE) -> list[tuple[float, float]]:
        """For the share covered, overall or of each diagnosis: exact, with the noise counted."""
        if self.per is None:
            return [noisy_interval(self.covered[0], self.n, self.n, self.scale, confidence)]
        miss = (1 - confidence) * ON_THE_SIZE / (1 - CONFIDENCE)
        within = _noise_of_two(self.scale, miss, self.n)
        found = []
        for covered, missed in zip(self.covered, self.missed, strict=True):
            least, most = (min(self.n, max(0, covered + missed + shift)) for shift in (-within, within))
            found.append(noisy_interval(covered, least, most, self.scale, confidence + miss))
        return found

    def shares(self) -> list[float]:
        """The noisy shares as numbers to show, within 0 and 1; nan where there seems to be nobody."""
        sizes = [self.n] if self.per is None else [c + m for c, m in zip(self.covered, self.missed, strict=True)]
        return [
            min(1.0, max(0.0, covered / size)) if size > 0 else math.nan
            for covered, size in zip(self.covered, sizes, strict=True)
        ]

    def to_json(self) -> str:
        """As `from_json` takes it back."""
        return json.dumps({"kind": CHECK, **asdict(self)}, ensure_ascii=False, indent=2) + "\n"

    @classmethod
    def from_json(cls, text: str) -> "PrivateCheck":
        """Read strictly: anything missing, unknown or out of range is an InputError."""
        document = json.loads(text)
        if not isinstance(document, dict) or document.pop("kind", None) != CHECK:
            raise InputError("This is no private check.")
        facts: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in document.items()}
        try:
            found = cls(**facts)
        except TypeError:
            raise InputError("This private check lacks a field or has one too many.") from None
        check_n(found.n), check_epsilon(found.epsilon), check_alpha(found.alpha)
        check_binding(found.unit, found.model, found.dataset, found.date)
        check_names(found.classes, "classes")
        counts = len(found.classes) if found.per == DIAGNOSIS else 1
        if (len(found.covered), len(found.missed)) != (counts, counts if found.per else 0):
            raise InputError("This private check has another number of counts than of diagnoses.")
        if found.per not in (None, DIAGNOSIS) or not all(type(c) is int for c in (*found.covered, *found.missed)):
            raise InputError("This private check's counts are no whole numbers.")
        return found


def digest_of(calibration: BaseCalibration) -> str:
    """Which calibration was checked: a calibration is public, so that a plain digest tells nothing else."""
    return hashlib.sha256(write_calibration(calibration).encode()).hexdigest()[:16]


def check_can_be_checked(
    classes: Sequence[str], calibration: BaseCalibration, epsilon: float, per: str | None
) -> float:
    """Refuse everything that can be wrong, before anything is spent; return ε as the number to draw with."""
    if per not in (None, DIAGNOSIS):
        raise InputError(f"A private check counts all patients together, or each '{DIAGNOSIS}'.")
    calibration.check_classes(classes)
    return check_epsilon(epsilon)


def private_check(
    counts: CoverageCounts, epsilon: float, *, per: str | None = None, dataset: str | None = None
) -> PrivateCheck:
    """Add OpenDP's exact discrete Laplace noise to the counts. `Ledger.check` charges ε first; here nobody does."""
    epsilon = check_can_be_checked(counts.classes, counts.calibration, epsilon, per)
    check_binding(counts.unit, counts.model, dataset)
    covered, missed = counts.by_class.T.tolist() if per else ([int(counts.by_class[:, 0].sum())], [])
    noisy = draw_counts([*covered, *missed], scale_for(epsilon, _sensitivity(per)))
    return PrivateCheck(
        n=len(counts),
        epsilon=epsilon,
        alpha=counts.calibration.alpha,
        per=per,
        classes=counts.classes,
        covered=tuple(noisy[: len(covered)]),
        missed=tuple(noisy[len(covered) :]),
        unit=counts.unit,
        model=counts.model,
        checked=digest_of(counts.calibration),
        dataset=dataset,
        date=now(),
    )


def draw_counts(counts: list[int], scale: float) -> list[int]:
    """Whole numbers with discrete Laplace noise, in exact arithmetic from a cryptographic source."""
    from opendp.domains import atom_domain, vector_domain
    from opendp.measurements import make_laplace
    from opendp.metrics import l1_distance
    from opendp.mod import enable_features

    enable_features("contrib")
    space = vector_domain(atom_domain(T="i64")), l1_distance(T="i64")
    return [int(count) for count in make_laplace(*space, scale=scale)(counts)]


def _sensitivity(per: str | None) -> int:
    return 1 if per is None else 2


def noisy_interval(seen: int, least: int, most: int, scale: float, confidence: float) -> tuple[float, float]:
    """The exact interval for p where Binomial(N, p) plus discrete Laplace noise gave `seen`, N from `least` to `most`.

    Clopper and Pearson's way: p is left out where so large, or so small, a count has at most half of the rest. A larger
    N makes large counts likelier, so the lower limit belongs to the largest N and the upper one to the smallest.
    """
    tail = (1 - confidence) / 2
    lower = least_float(lambda p: _tail(seen, most, p, scale, upward=True) > tail, 0.0, 1.0)
    upper = least_float(lambda p: _tail(seen, least, p, scale, upward=False) <= tail, 0.0, 1.0)
    return 1.0 if lower is None else lower, 1.0 if upper is None else upper


def _tail(seen: int, n: int, p: float, scale: float, *, upward: bool) -> float:
    """How likely Binomial(n, p) plus discrete Laplace noise is at least, or at most, `seen`."""
    places, mass = _binomial(n, p)
    return float(mass @ _noise_at_least(seen - places if upward else places - seen, scale))


def _binomial(n: int, p: float) -> tuple[np.ndarray, np.ndarray]:
    """Where the binomial has mass to speak of, and how much."""
    if p in (0.0, 1.0) or n == 0:
        return np.array([round(p * n)]), np.ones(1)
    reach = 12 * math.sqrt(n * p * (1 - p)) + 60
    places = np.arange(max(0, math.floor(n * p - reach)), min(n, math.ceil(n * p + reach)) + 1)
    steps = np.log((n - places[:-1]) / (places[:-1] + 1)) + math.log(p) - math.log1p(-p)
    logs = np.concatenate([[0.0], np.cumsum(steps)])  # from each place to the next
    mass = np.exp(logs - logs.max())
    return places, mass / mass.sum()


def _noise_at_least(bound: np.ndarray, scale: float) -> np.ndarray:
    """P(Z ≥ bound) for discrete Laplace noise, P(Z = z) ∝ e^(−|z|/scale)."""
    ratio = math.exp(-1 / scale)
    positive = np.exp(-np.maximum(bound, 1) / scale) / (1 + ratio)
    negative = 1 - np.exp((np.minimum(bound, 0) - 1) / scale) / (1 + ratio)
    return np.where(bound >= 1, positive, negative)


_FAR = 100
"""So many times its scale noise never comes to."""


def _noise_of_two(scale: float, miss: float, most: int) -> int:
    """The least t ≤ `most` that the sum of two such noises exceeds in size with probability at most `miss`."""
    ratio, gap = math.exp(-1 / scale), -math.expm1(-1 / scale)
    k = np.arange(min(most, math.ceil(_FAR * scale)) + 1)
    mass = (gap / (1 + ratio)) ** 2 * np.exp(-k / scale) * (k + (1 + ratio**2) / (gap * (1 + ratio)))
    inside = mass[0] + 2 * np.concatenate([[0.0], np.cumsum(mass[1:])])
    enough = np.flatnonzero(inside >= 1 - miss)
    return int(enough[0]) if len(enough) else most
