"""The same jobs on a Dask cluster: scoring X-rays, counting a data set for a release, sets and checks of new patients.

Each takes a Dask `Client`; `connected` makes one, to a scheduler elsewhere or to worker processes of this machine.
"""

from ppsets_core.cluster.connection import connected
from ppsets_core.cluster.counting import choose, count
from ppsets_core.cluster.patients import check, predict, tally
from ppsets_core.cluster.scoring import score

__all__ = ["check", "choose", "connected", "count", "predict", "score", "tally"]
