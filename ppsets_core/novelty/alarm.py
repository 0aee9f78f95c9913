"""The alarm over a batch: more X-rays unlike the calibration's than chance explains."""

from collections.abc import Sequence
from dataclasses import dataclass

from ppsets_core.method.intervals import binomial_at_least
from ppsets_core.novelty.watch import DELTA, UNKNOWN, Watch

OFF = "The promised coverage cannot be relied on here. Calibrate with X-rays like these."


@dataclass(frozen=True)
class Alarm:
    """How many X-rays of a batch are unlike the calibration's, of how many that can be told, and whether that is more
    than chance explains."""

    unlike: int
    of: int
    watch: Watch

    @property
    def is_on(self) -> bool:
        """For X-rays like the calibration's, one of each patient, it is on with probability 0.1% at most."""
        return binomial_at_least(self.unlike, self.of, self.watch.rate) < DELTA

    @property
    def expected(self) -> float:
        return self.watch.alpha * self.of

    @property
    def words(self) -> str:
        """The count, what follows from it, and with what the X-rays were compared; or why they cannot be."""
        if not self.of:
            return self.watch.words if self.watch.threshold is None else UNKNOWN
        xrays, are = ("X-ray", "is") if self.of == 1 else ("X-rays", "is" if self.unlike == 1 else "are")
        count = f"{self.unlike:,} of {self.of:,} {xrays} {are} unlike those of {self.watch.like}; {self._expected}."
        return " ".join(filter(None, (count, OFF if self.is_on else "", self.watch.words)))

    def document(self) -> dict[str, object]:
        """For exports; None is what cannot be told."""
        told = {"unlike": self.unlike, "of": self.of, "expected": self.expected}
        return {
            "threshold": self.watch.threshold,
            "like": None if self.watch.threshold is None else self.watch.like,
            "batch": told if self.of else None,
            "alarm": self.is_on if self.of else None,
            "note": self.words,
        }

    @property
    def _expected(self) -> str:
        number = round(self.expected)
        if number < 1:
            return "hardly any was to be expected"
        return f"about {number:,} {'was' if number == 1 else 'were'} to be expected"


def alarm_over(familiar: Sequence[bool | None], watch: Watch) -> Alarm:
    """The alarm over X-rays that are familiar or not, or of which that cannot be told."""
    return Alarm(familiar.count(False), len(familiar) - familiar.count(None), watch)
