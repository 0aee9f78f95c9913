"""The ledger's secret key, in a file of its own.

Without it a reader of the ledger cannot test whether a guessed patient or record is in it, nor seal what was changed.
"""

import errno
import hashlib
import hmac
import os
import secrets
import stat
from pathlib import Path

from ppsets_core.errors import LedgerError

KEY_BYTES = 32


def create_key(path: Path) -> bytes:
    """A new key in a new file that only its owner can read, on disk before it is used."""
    key = secrets.token_bytes(KEY_BYTES)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb", buffering=0) as file:
        try:
            if file.write(key) < KEY_BYTES:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(file.fileno())
        except OSError:
            path.unlink()
            raise
    return key


def read_key(path: Path) -> bytes:
    try:
        if os.name == "posix" and stat.S_IMODE(path.stat().st_mode) & 0o077:
            raise LedgerError(f"Others can read the ledger's key {path}; run: chmod 600 '{path}'")
        key = path.read_bytes()
    except FileNotFoundError:
        raise LedgerError(
            f"The ledger's key {path} is missing, and without it the same records are not known again. "
            "Restore it from a backup."
        ) from None
    except OSError as error:
        raise LedgerError(f"The ledger's key {path} cannot be read ({error.strerror}).") from None
    if len(key) != KEY_BYTES:
        raise LedgerError(f"The ledger's key {path} is damaged. Restore it from a backup.")
    return key


def cohort_key(key: bytes) -> bytes:
    """The key of patients' and records' hashes: it may go to the machines that read them, for it seals nothing."""
    return hmac.new(key, b"cohorts", hashlib.sha256).digest()


def key_check(key: bytes) -> str:
    """Kept in the ledger to notice that a key belongs to another one."""
    return hmac.new(key, b"ledger", hashlib.sha256).hexdigest()
