"""The alarm over a batch: more X-rays unlike the calibration's than chance explains."""

from collections.abc import Sequence
from dataclasses import dataclass

from ppsets_core.binomial import binomial_at_least
from ppsets_core.familiarity.watch import DELTA, Watch

OFF = "The promised coverage cannot be relied on here. Calibrate with X-rays like these."


@dataclass(frozen=True)
class Alarm:
    """How many X-rays of a batch are unlike the calibration's, and whether that is more than chance explains."""

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
        xrays, are = ("X-ray", "is") if self.of == 1 else ("X-rays", "is" if self.unlike == 1 else "are")
        count = f"{self.unlike:,} of {self.of:,} {xrays} {are} unlike those of {self.watch.like}; {self._expected}."
        return f"{count} {OFF}" if self.is_on else count

    @property
    def _expected(self) -> str:
        number = round(self.expected)
        if number < 1:
            return "hardly any was to be expected"
        return f"about {number:,} {'was' if number == 1 else 'were'} to be expected"


def alarm_over(familiar: Sequence[bool | None], watch: Watch) -> Alarm | None:
    """The alarm over X-rays that are familiar or not; None where that cannot be told of any."""
    told = [one for one in familiar if one is not None]
    return Alarm(told.count(False), len(told), watch) if told else None
