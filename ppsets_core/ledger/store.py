"""The ledger's SQLite file: a sealed log, in transactions that are on disk when they return.

Each entry has a keyed digest of itself and all before it (its seal). The key lies in a separate file: without it a
reader of the ledger can neither test whether a guessed patient is in it nor seal a changed entry. The head, which says
how far the log got, lies beside the key: an older copy of the ledger, restored alone, is behind it.
"""

import errno
import hashlib
import hmac
import json
import os
import secrets
import sqlite3
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ppsets_core.errors import LedgerError

VERSION = "4"
WAIT_SECONDS = 60
RESTORE = "Nothing was released. Restore the ledger from a backup; a new one would forget what was spent."
TABLES = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE entries (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, body TEXT NOT NULL, seal TEXT NOT NULL) STRICT;
CREATE TABLE cohorts (
    id INTEGER PRIMARY KEY, named BLOB NOT NULL, counts BLOB NOT NULL, contents BLOB NOT NULL, nameless BLOB NOT NULL
) STRICT;
"""
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
    return _seal(key, "schema", *(repr(part) for part in parts))


def next_seal(key: bytes, before: str, number: int, kind: str, text: str) -> str:
    return _seal(key, "entry", before, str(number), kind, text)


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


def _seal(key: bytes, *parts: str) -> str:
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


# The file


def stamp_of(ledger: Path) -> tuple[object, ...] | None:
    """A value that changes whenever the ledger, its key or its head does; None if one of them is gone."""
    try:
        found = [path.stat() for path in (ledger, key_path(ledger), head_path(ledger))]
    except OSError:
        return None
    return tuple((s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns, s.st_mode) for s in found)


class Log:
    """All entries of a ledger as one transaction sees them, seals checked; entries are only ever added."""

    def __init__(self, path: Path, db: sqlite3.Connection, key: bytes) -> None:
        found = sealed_entries(db, key)
        if found is None:
            raise LedgerError(f"The ledger {path} was damaged or changed by another program. {RESTORE}")
        self.entries, self.seals = found
        self._path, self._db, self._key = path, db, key

    def append(self, kind: str, body: Mapping[str, object]) -> None:
        number, text = len(self.seals), json.dumps(body, ensure_ascii=False)
        entry = Entry(number, kind, text, next_seal(self._key, self.seals[-1], number, kind, text))
        self._db.execute("INSERT INTO entries VALUES (?, ?, ?, ?)", [number, kind, text, entry.seal])
        self.entries.append(entry)
        self.seals.append(entry.seal)

    def store_cohort(self, cells: Sequence[bytes]) -> int:
        """Return the cohort's number. It is stored once, however often it is charged."""
        digest = _digest(self._key, cells)
        known = [entry.body for entry in self.entries if entry.kind == "cohort"]
        for body in known:
            if body["digest"] == digest:
                return body["cohort"]
        number = len(known) + 1
        self._db.execute("INSERT INTO cohorts VALUES (?, ?, ?, ?, ?)", [number, *cells])
        self.append("cohort", {"cohort": number, "digest": digest})
        return number

    def cohorts(self) -> Iterator[tuple[int, Sequence[bytes]]]:
        """The cells of every cohort ever charged, one at a time, their digest checked."""
        query = "SELECT named, counts, contents, nameless FROM cohorts WHERE id = ?"
        for body in (entry.body for entry in self.entries if entry.kind == "cohort"):
            cells = self._db.execute(query, [body["cohort"]]).fetchone() or ()
            if not all(isinstance(cell, bytes) for cell in cells) or _digest(self._key, cells) != body["digest"]:
                raise LedgerError(f"The ledger {self._path} was damaged or changed by another program. {RESTORE}")
            yield body["cohort"], cells


class Store:
    """A ledger file, its key and its head. Opening it creates all three, once; one without another is refused."""

    def __init__(self, path: str | os.PathLike) -> None:
        self.path = Path(path)
        self._key_path = key_path(self.path)
        try:
            if self._is_empty():
                self._create()
        except OSError as error:
            raise LedgerError(f"The ledger {self.path} cannot be opened or made ({error.strerror}).") from None
        with self._transaction("BEGIN") as db:
            self._check_layout(db)
            self.key = read_key(self._key_path)
            self._check_key(db)

    @contextmanager
    def reading(self) -> Iterator[Log]:
        """One consistent view; also of a ledger that cannot be written."""
        with self._transaction("BEGIN") as db:
            yield self._log(db)

    @contextmanager
    def writing(self) -> Iterator[Log]:
        """One writer at a time over all processes; ledger and head are on disk when it returns, undone on any error."""
        with self._transaction("BEGIN IMMEDIATE") as db:
            log = self._log(db)
            before = len(log.entries)
            yield log
        if len(log.entries) > before:
            self._write_head(log)

    def _log(self, db: sqlite3.Connection) -> Log:
        self._check_key(db)
        log = Log(self.path, db, self.key)
        check_head(self.path, log.seals)
        return log

    def _write_head(self, mine: Log) -> None:
        """Re-lock so that the later writer sets the head."""
        with self._transaction("BEGIN IMMEDIATE") as db:
            self._check_key(db)
            log = Log(self.path, db, self.key)
            if log.seals[: len(mine.seals)] != mine.seals:
                raise LedgerError(f"The ledger {self.path} was replaced meanwhile. {RESTORE}")
            write_head(self.path, len(log.entries), log.seals[-1])

    def _is_empty(self) -> bool:
        if not self.path.exists():
            return True
        with self._transaction("BEGIN") as db:
            return db.execute("SELECT 1 FROM sqlite_master").fetchone() is None

    def _create(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        key = None
        try:
            with self._transaction("BEGIN IMMEDIATE", create=True) as db:
                if db.execute("SELECT 1 FROM sqlite_master").fetchone():
                    return
                left = [path for path in (self._key_path, head_path(self.path)) if path.exists()]
                if left:
                    raise LedgerError(
                        f"The ledger {self.path} is empty or gone, but its {left[0].suffix[1:]} is there. Restore the "
                        "ledger from a backup: a new one would forget what was spent. "
                        f"If it never held anything, remove {' and '.join(map(str, left))}."
                    )
                os.chmod(self.path, 0o600)
                key = create_key(self._key_path)
                for statement in TABLES.strip().split(";\n"):
                    db.execute(statement)
                meta = [("version", VERSION), ("key_check", key_check(key))]
                db.executemany("INSERT INTO meta VALUES (?, ?)", meta)
                write_head(self.path, 0, first_seal(db, key))
        except LedgerError:
            if key is not None and self._is_empty():  # the disk was full: a key without a ledger would be in the way
                self._key_path.unlink()
                head_path(self.path).unlink(missing_ok=True)
            raise

    def _check_layout(self, db: sqlite3.Connection) -> None:
        """Refuse a file that is damaged, no ledger, or of another version."""
        if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone():
            raise LedgerError(
                f"{self.path} is another program's database, not a ledger. Choose another file for the ledger."
            )
        if dict(db.execute("SELECT name, value FROM meta")).get("version") != VERSION:
            raise LedgerError(
                f"The ledger {self.path} was changed, or written by another version of this program. "
                "Nothing was released. Use that version with it, or restore the ledger from a backup."
            )
        for table in ("meta", "entries"):  # cohorts may be large: they are checked when they are charged
            (found,) = db.execute(f"PRAGMA integrity_check('{table}')").fetchone()
            if found != "ok":
                raise LedgerError(f"The ledger {self.path} is damaged. {RESTORE}")

    def _check_key(self, db: sqlite3.Connection) -> None:
        row = db.execute("SELECT value FROM meta WHERE name = 'key_check'").fetchone()
        if row is None or row[0] != key_check(self.key):
            raise LedgerError(
                f"The key {self._key_path} is another ledger's. Nothing was released. "
                "Restore the ledger, its key and its head from one backup."
            )

    @contextmanager
    def _transaction(self, begin: str, *, create: bool = False) -> Iterator[sqlite3.Connection]:
        address = f"{self.path.absolute().as_uri()}?mode={'rwc' if create else 'rw'}"
        try:
            with closing(sqlite3.connect(address, uri=True, timeout=WAIT_SECONDS, isolation_level=None)) as db:
                db.execute("PRAGMA synchronous = EXTRA")
                db.execute("PRAGMA trusted_schema = OFF")
                db.execute(begin)
                try:
                    yield db
                except BaseException:
                    if db.in_transaction:  # SQLite undoes it by itself where the disk is full
                        db.execute("ROLLBACK")
                    raise
                db.execute("COMMIT")
        except (sqlite3.Error, UnicodeDecodeError) as error:  # damaged bytes can reach the text of SQLite's own error
            raise LedgerError(
                f"The ledger {self.path} cannot be used ({error}). Nothing was released. Check that the file is whole, "
                "that it can be written and that the disk is not full; restore a damaged one from a backup."
            ) from None


def _digest(key: bytes, cells: Sequence[bytes]) -> str:
    digest = hashlib.blake2b(key=key, digest_size=32)
    for cell in cells:
        digest.update(b"%d:" % len(cell))
        digest.update(cell)
    return digest.hexdigest()
