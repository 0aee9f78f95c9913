"""Scoring a folder of X-rays on a cluster: each worker loads the weights once and writes parts where `out` is."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ppsets_core.cluster.jobs import Progress, finished, spread, told
from ppsets_core.model.scored_parts import PartJob, write_part
from ppsets_core.xrays.folder import single_threaded

if TYPE_CHECKING:
    from distributed import Client


def score(client: "Client", jobs: Sequence[PartJob], *, progress: Progress | None = None) -> None:
    """Write these parts; those of a worker that is lost are written by another. What is written stays."""
    futures = spread(client, write_part_alone, [(job,) for job in jobs])
    finished(client, futures, progress)
    for future in futures:
        told(future.result())


def write_part_alone(job: PartJob) -> int:
    """`write_part` on one core."""
    with single_threaded():
        return write_part(job)
