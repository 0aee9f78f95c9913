"""The ledger's SQLite file: its tables, and transactions that are on disk when they return."""

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np

from ppsets_core.errors import LedgerError
from ppsets_core.ledger import version3
from ppsets_core.ledger.head import check_head, head_path, write_head
from ppsets_core.ledger.key import create_key, key_check, read_key
from ppsets_core.ledger.losses import Kept
from ppsets_core.ledger.seal import Entry, first_seal, next_seal, sealed_entries

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


def key_path(ledger: Path) -> Path:
    return ledger.with_name(ledger.name + ".key")


def stamp_of(ledger: Path) -> tuple[object, ...] | None:
    """Changes whenever the ledger, its key or its head does, as the file system tells; None if one of them is gone."""
    try:
        found = [path.stat() for path in (ledger, key_path(ledger), head_path(ledger))]
    except OSError:
        return None
    return tuple((s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns, s.st_mode) for s in found)


class Log:
    """All entries of a ledger as one transaction sees them, their seals checked; entries are only ever added."""

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

    def keep_cohort(self, kept: Kept) -> int:
        """The number of the cohort, which is kept once however often it is charged."""
        digest = _digest(self._key, kept)
        known = [entry.body for entry in self.entries if entry.kind == "cohort"]
        for body in known:
            if body["digest"] == digest:
                return body["cohort"]
        number = len(known) + 1
        row = [number, *(array.tobytes() for array in _arrays(kept))]
        self._db.execute("INSERT INTO cohorts VALUES (?, ?, ?, ?, ?)", row)
        self.append("cohort", {"cohort": number, "digest": digest})
        return number

    def cohorts(self) -> Iterator[tuple[int, Kept]]:
        """Every cohort ever charged, one at a time, as it was sealed."""
        query = "SELECT named, counts, contents, nameless FROM cohorts WHERE id = ?"
        for body in (entry.body for entry in self.entries if entry.kind == "cohort"):
            row = self._db.execute(query, [body["cohort"]]).fetchone() or [b""] * 4
            kept = Kept(
                *(np.frombuffer(cell, dtype=kind) for cell, kind in zip(row, ("<u8", "<u4", "<u8", "<u8"), strict=True))
            )
            if _digest(self._key, kept) != body["digest"]:
                raise LedgerError(f"The ledger {self._path} was damaged or changed by another program. {RESTORE}")
            yield body["cohort"], kept


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
        version = self._check_layout()
        self.key = read_key(self._key_path)
        if version == version3.VERSION:
            self._migrate()
        with self._transaction("BEGIN") as db:
            self._check_key(db)

    @contextmanager
    def reading(self) -> Iterator[Log]:
        """One consistent view; works on a ledger that cannot be written too."""
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
        """Under the lock once more, so that of two writers the later one's head stays."""
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
                if self._key_path.exists():
                    raise LedgerError(
                        f"The ledger {self.path} is empty or gone, but its key is there. Restore the ledger from a "
                        "backup: a new one would forget what was spent. "
                        f"If it never held anything, remove {self._key_path}."
                    )
                os.chmod(self.path, 0o600)
                key = create_key(self._key_path)
                self._lay_out(db, key)
                write_head(self.path, 0, first_seal(db, key))
        except LedgerError:
            if key is not None and self._is_empty():  # the disk was full: a key without a ledger would be in the way
                self._key_path.unlink()
            raise

    def _lay_out(self, db: sqlite3.Connection, key: bytes) -> None:
        for statement in TABLES.strip().split(";\n"):
            db.execute(statement)
        db.executemany("INSERT INTO meta VALUES (?, ?)", [("version", VERSION), ("key_check", key_check(key))])

    def _migrate(self) -> None:
        """Version 3 becomes this version, in one transaction: all that it says is kept, and what it cannot say (who its
        patients were) is made up for by charging its whole accounts."""
        with self._transaction("BEGIN IMMEDIATE") as db:
            if not version3.is_version_3(db):
                return  # another process was faster
            self._check_key(db)
            if not version3.is_sealed(db, self.key):
                raise LedgerError(f"The ledger {self.path} was damaged or changed by another program. {RESTORE}")
            entries = version3.entries_of(db)
            version3.clear(db)
            self._lay_out(db, self.key)
            log = Log(self.path, db, self.key)
            for kind, body in entries:
                log.append(kind, body)
            if head_path(self.path).exists():  # of an attempt that was interrupted, or of a ledger that got further
                check_head(self.path, log.seals)
            write_head(self.path, len(log.entries), log.seals[-1])

    def _check_layout(self) -> str:
        """The file must be whole, a ledger, and of this version or the one before it; which of them."""
        with self._transaction("BEGIN") as db:
            if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone():
                raise LedgerError(
                    f"{self.path} is another program's database, not a ledger. Give the ledger a file of its own."
                )
            version = dict(db.execute("SELECT name, value FROM meta")).get("version")
            if version not in (version3.VERSION, VERSION):
                raise LedgerError(
                    f"The ledger {self.path} was changed, or written by another version of this program than this one. "
                    "Nothing was released. Use that version for it, or restore the ledger from a backup."
                )
            (found,) = db.execute("PRAGMA integrity_check('meta')").fetchone()
            if found == "ok" and version == VERSION:  # cohorts may be large: they are checked when they are charged
                (found,) = db.execute("PRAGMA integrity_check('entries')").fetchone()
        if found != "ok":
            raise LedgerError(f"The ledger {self.path} is damaged. {RESTORE}")
        return version

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


def _arrays(kept: Kept) -> tuple[np.ndarray, ...]:
    return kept.named, kept.counts, kept.contents, kept.nameless


def _digest(key: bytes, kept: Kept) -> str:
    digest = hashlib.blake2b(key=key, digest_size=32)
    for array in _arrays(kept):
        digest.update(b"%d:" % array.nbytes)
        digest.update(array.tobytes())
    return digest.hexdigest()
