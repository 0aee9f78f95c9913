"""Work a few items ahead of the consumer, in order."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

WORKERS = min(4, os.cpu_count() or 1)
AHEAD = 2 * WORKERS


def worked_ahead(work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """`map(work, items)` on a few threads, at most AHEAD results waiting. Stopping early ends the threads."""
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
