"""Many tasks on a cluster: watched until all are done, told apart by whose fault it is if they are not."""

import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ppsets_core.errors import ClusterError, FileError, PpsetsError

if TYPE_CHECKING:
    from distributed import Client, Future

Progress = Callable[[int, int], None]

TOGETHER = 8  # how many results are added up in one step
PATIENCE = 20.0  # seconds without any worker, or without the scheduler
LOOK_EVERY = 0.1
LOST = ("lost", "pending")
"""Of a task that was done on a worker which has died since: it is done again."""
GONE = "{what} of the cluster is gone. Nothing was charged. Start it again and repeat the command."


@dataclass(frozen=True)
class Refusal:
    """A task's error as its result: the first in the order of the tasks is told, whichever worker was first."""

    number: int
    sentence: str


def spread(client: "Client", work: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]) -> list["Future"]:
    """`work(*arguments)` for each of them, on whichever worker is free; futures among them stand for their results."""
    name = f"{work.__name__.strip('_')}-{uuid.uuid4().hex}"
    return [
        client.submit(_refusing, work, number, *given, pure=False, key=f"{name}-{number}")
        for number, given in enumerate(arguments)
    ]


def added_up(client: "Client", futures: Sequence["Future"]) -> "Future":
    """The sum of all results, made where they are, as a tree: the driver is sent the last one only."""
    waiting = list(futures)
    while len(waiting) > 1:
        groups = [waiting[start : start + TOGETHER] for start in range(0, len(waiting), TOGETHER)]
        waiting = [client.submit(_sum, group, pure=False) for group in groups]
    return waiting[0]


def finished(client: "Client", futures: Sequence["Future"], progress: Progress | None = None) -> None:
    """Wait for all, telling how many are done; ClusterError where the cluster, or a task on it, failed."""
    from distributed import as_completed

    done, seen = 0, time.monotonic()
    watched = as_completed(futures, loop=client.loop)
    try:
        while done < len(futures):
            batch = watched.next_batch(block=False)
            again = [future for future in batch if future.status in LOST]
            watched.update(again)
            for future in batch:
                _check(future)
            done += len(batch) - len(again)
            if progress:
                progress(done, len(futures))
            if time.monotonic() - seen > 1:
                seen = _seen_alive(client, seen)
            if not batch:
                time.sleep(LOOK_EVERY)
    except BaseException:
        forget(client, futures)
        raise


def result_of(client: "Client", future: "Future", before: Sequence["Future"], progress: Progress | None = None) -> Any:
    """What a future comes to, once the tasks that it stands on are done; a refusal is raised here."""
    finished(client, before, progress)
    finished(client, [future])
    return told(future.result())


def told(result: Any) -> Any:
    if isinstance(result, Refusal):
        raise FileError(result.sentence)
    return result


def forget(client: "Client", futures: Sequence["Future"]) -> None:
    """Stop what is not done, where there is still somebody to tell."""
    if client.status == "running":
        client.cancel(list(futures), force=True)


def workers_of(client: "Client") -> int:
    """How many workers there are; 0 where the scheduler does not answer."""
    try:
        return len(client.scheduler_info(n_workers=-1)["workers"]) if client.status == "running" else 0
    except (OSError, RuntimeError, TimeoutError, KeyError):
        return 0


def _seen_alive(client: "Client", seen: float) -> float:
    """When there was last a worker; ClusterError if that was too long ago."""
    if workers_of(client):
        return time.monotonic()
    if time.monotonic() - seen > PATIENCE:
        raise ClusterError(GONE.format(what="The scheduler" if client.status != "running" else "Every worker"))
    return seen


def _check(future: "Future") -> None:
    if future.status == "cancelled":
        raise ClusterError(GONE.format(what="The scheduler"))
    if future.status == "error":
        error = future.exception()
        raise ClusterError(
            f"A task failed on the cluster ({type(error).__name__}). Workers need the same ppsets and the same folders "
            "as this machine, and enough memory. Nothing was charged."
        ) from None


def _refusing(work: Callable[..., Any], number: int, *given: Any) -> Any:
    if (earlier := _first_refusal(given)) is not None:
        return earlier
    try:
        return work(*given)
    except PpsetsError as error:
        return Refusal(number, str(error))


def _sum(results: list[Any]) -> Any:
    if (refused := _first_refusal(results)) is not None:
        return refused
    total = results[0]
    for one in results[1:]:
        total = total + one
    return total


def _first_refusal(results: Sequence[Any]) -> Refusal | None:
    flat = [one for result in results for one in (result if isinstance(result, list) else [result])]
    return min((one for one in flat if isinstance(one, Refusal)), key=lambda one: one.number, default=None)
