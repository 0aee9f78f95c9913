"""The same jobs on a Dask cluster: scoring X-rays, counting a data set for a release.

Each takes a Dask `Client`; `connected` makes one, to a scheduler elsewhere or to worker processes of this machine.
"""

from ppsets_core.cluster.connection import connected
from ppsets_core.cluster.counting import choose, count
from ppsets_core.cluster.scoring import score

__all__ = ["choose", "connected", "count", "score"]
