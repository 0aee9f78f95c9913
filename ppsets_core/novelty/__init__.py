"""How unlike the X-rays that a model learnt from an X-ray is, and when a calibration's promise cannot be relied on."""

from ppsets_core.novelty.alarm import Alarm, alarm_over
from ppsets_core.novelty.watch import Watch, watch_for

__all__ = ["Alarm", "Watch", "alarm_over", "watch_for"]
