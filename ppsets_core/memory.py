"""Memory that long work used and no longer needs."""

import ctypes
import sys


def give_back() -> None:
    """Hand freed memory back to the system.

    glibc keeps what a thread freed for that thread's next need. Every job has a thread of its own, so what one batch of
    X-rays took would pile up beside what the next one takes."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # other C libraries do without
        if trim is not None:
            trim(0)
