"""File permissions that bind, also where the tests are run by root."""

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

VERSION_3, OVERRIDES = 0x20080522, 0b1110  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER


@contextmanager
def as_ordinary_user() -> Iterator[None]:
    """While the block lasts, this thread and those it starts may read and write only what a file's mode allows."""
    if os.geteuid() != 0:
        yield
        return
    if sys.platform != "linux":
        pytest.skip("Only on Linux can root lay down its power over file permissions.")
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(VERSION_3, 0)
    sets = (ctypes.c_uint32 * 6)()
    libc.capget(header, sets)
    whole = sets[0]
    sets[0] = whole & ~OVERRIDES
    assert libc.capset(header, sets) == 0
    try:
        yield
    finally:
        sets[0] = whole
        libc.capset(header, sets)
