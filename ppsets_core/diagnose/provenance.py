"""Where a set comes from: what every export carries, so that it can be read, and doubted, without this program."""

import json
from dataclasses import dataclass, field

from ppsets_core.method.calibration import BaseCalibration, Calibration, now
from ppsets_core.method.calibration_json import write_calibration
from ppsets_core.version import __version__


@dataclass(frozen=True)
class Provenance:
    """A calibration, the fingerprint of the model whose probabilities it cut (None if unknown), and when.

    `group`: the group that all the records are of, where each has a threshold of its own.
    """

    calibration: BaseCalibration
    model: str | None
    group: str | None = None
    exported: str = field(default_factory=now)

    def columns(self) -> dict[str, object]:
        """For a CSV: the same in every row, so that it outlasts sorting, filtering and copying, and any reader reads
        it; a line above the header would not, and a second file gets lost."""
        drawn = self.calibration
        release = drawn if isinstance(drawn, Calibration) else None
        return {
            "alpha": drawn.alpha,
            "epsilon": drawn.epsilon,
            "rule": drawn.method,
            "promised to": self._promised_to(),
            "calibration": "release" if release else "simulation",
            "calibration data set": release.dataset if release else None,
            "calibration date": release.date if release else None,
            "calibration records": drawn.n,
            "calibration model": drawn.model,
            "model": self.model,
            "ppsets": __version__,
            "exported": self.exported,
        }

    def document(self) -> dict[str, object]:
        """For JSON, and as JSON for Parquet's metadata: the calibration whole, as `Calibration.from_json` takes it."""
        return {
            "ppsets": __version__,
            "exported": self.exported,
            "model": self.model,
            "group": self.group,
            "calibration": json.loads(write_calibration(self.calibration)),
        }

    def _promised_to(self) -> str:
        if self.calibration.per is None:
            return "all together"
        return f"each {self.calibration.per}" + ("" if self.group is None else f": {self.group}")
