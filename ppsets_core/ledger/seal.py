"""What protects the log: a secret key, a chain of keyed digests (seals), and the head, which says how far it got.

The key lies in a separate file. Without it a reader of the ledger can neither test whether a guessed patient is in it
nor seal a changed entry. The head lies beside the key: an older copy of the ledger, restored alone, is behind it.
"""

import errno
import hashlib
import hmac
import json
import os
import secrets
import sqlite3
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ppsets_core.errors import LedgerError

KEY_BYTES = 32
SCHEMA = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name"


def key_path(ledger: Path) -> Path:
    return ledger.with_name(ledger.name + ".key")


def head_path(ledger: Path) -> Path:
    return ledger.with_name(ledger.name + ".head")


# The key


def create_key(path: Path) -> bytes:
    """Write a new key to a new file that only its owner can read; it is on disk before it is used."""
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
    """The key for hashes of patients and records. It seals nothing, so it may go to the machines that read them."""
    return hmac.new(key, b"cohorts", hashlib.sha256).digest()


def key_check(key: bytes) -> str:
    """A digest of the key, stored in the ledger to notice another ledger's key."""
    return hmac.new(key, b"ledger", hashlib.sha256).hexdigest()


# The seals


@dataclass(frozen=True)
class Entry:
    """One event, and the digest of it and of all before it."""

    id: int
    kind: str
    text: str
    seal: str

    @property
    def body(self) -> dict[str, Any]:
        return json.loads(self.text)


def first_seal(db: sqlite3.Connection, key: bytes) -> str:
    """The digest of the schema (tables, triggers, all else), the version and the key's check."""
    parts = [*db.execute(SCHEMA), *db.execute("SELECT name, value FROM meta ORDER BY name")]
    return _digest(key, "schema", *(repr(part) for part in parts))


def next_seal(key: bytes, before: str, number: int, kind: str, text: str) -> str:
    return _digest(key, "entry", before, str(number), kind, text)


def sealed_entries(db: sqlite3.Connection, key: bytes) -> tuple[list[Entry], list[str]] | None:
    """All entries, and the seals from the schema's on; None if one of them was not made with this key."""
    entries, seals = [], [first_seal(db, key)]
    for place, row in enumerate(db.execute("SELECT id, kind, body, seal FROM entries ORDER BY id"), 1):
        entry = Entry(*row)
        seals.append(next_seal(key, seals[-1], place, entry.kind, entry.text))
        if entry.id != place or not hmac.compare_digest(seals[-1], entry.seal):
            return None
        entries.append(entry)
    return entries, seals


def _digest(key: bytes, *parts: str) -> str:
    message = b"".join(b"%d:%s" % (len(part), part) for part in (text.encode() for text in parts))
    return hmac.new(key, message, hashlib.sha256).hexdigest()


# The head


def write_head(ledger: Path, count: int, seal: str) -> None:
    """Write how far the ledger got; on disk when it returns. The caller holds the write lock, so it never goes back."""
    path = head_path(ledger)
    new = path.with_name(path.name + ".new")
    try:
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(f"{count} {seal}\n")
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, path)
        if os.name == "posix":
            folder = os.open(path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
    except OSError as error:
        raise LedgerError(
            f"{path}, which says how far the ledger has got, cannot be written ({error.strerror}). "
            "Nothing was released. Check that the disk is not full and that the folder can be written."
        ) from None


def check_head(ledger: Path, seals: Sequence[str]) -> None:
    """Refuse a ledger that has not reached its head, or has not passed through it."""
    path = head_path(ledger)
    try:
        count, _, seal = path.read_text(encoding="ascii").strip().partition(" ")
        reached = count.isdigit() and int(count) < len(seals) and seals[int(count)] == seal
    except FileNotFoundError:
        raise LedgerError(
            f"{path}, which says how far the ledger had got, is missing. Nothing was released. "
            "Restore it from the backup of the ledger."
        ) from None
    except OSError as error:
        raise LedgerError(f"{path} cannot be read ({error.strerror}). Nothing was released.") from None
    except ValueError:
        reached = False
    if not reached:
        raise LedgerError(
            f"The ledger {ledger} is an older copy than the one last written, or {path} is damaged. Nothing was "
            "released. Put the newest ledger back; an older one would forget what was spent."
        )
