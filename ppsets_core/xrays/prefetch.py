"""Work a few items ahead of the consumer, in order."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

WORKERS = min(4, os.cpu_count() or 1)
AHEAD = 2 * WORKERS
_alone = ContextVar("alone", default=False)


@contextmanager
def alone() -> Iterator[None]:
    """Nothing is worked ahead within: a cluster's worker has one core, and the others have their own workers."""
    token = _alone.set(True)
    try:
        yield
    finally:
        _alone.reset(token)


def worked_ahead(work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """`map(work, items)` on a few threads, at most AHEAD results waiting. Stopping early ends the threads."""
    if _alone.get():
        yield from map(work, items)
        return
    pending: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(WORKERS, "xray-reader") as pool:
        try:
            for item in items:
                pending.append(pool.submit(work, item))
                if len(pending) > AHEAD:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            for future in pending:
                future.cancel()
