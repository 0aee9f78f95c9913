"""The ledger's SQLite file: its tables, and transactions that are on disk when they return."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from ppsets_core.errors import LedgerError
from ppsets_core.ledger.key import create_key, key_check, read_key
from ppsets_core.ledger.seal import is_sealed, write_seal

VERSION = "3"
WAIT_SECONDS = 60
RESTORE = "Nothing was released. Restore the ledger from a backup; a new one would forget what was spent."
TABLES = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE datasets (name TEXT PRIMARY KEY) STRICT;
CREATE TABLE budgets (
    id INTEGER PRIMARY KEY AUTOINCREMENT, dataset TEXT NOT NULL REFERENCES datasets, budget TEXT NOT NULL,
    time TEXT NOT NULL
) STRICT;
CREATE TABLE fingerprints (fingerprint TEXT PRIMARY KEY, dataset TEXT NOT NULL REFERENCES datasets) STRICT;
CREATE TABLE releases (
    id INTEGER PRIMARY KEY AUTOINCREMENT, dataset TEXT NOT NULL REFERENCES datasets, epsilon TEXT NOT NULL,
    time TEXT NOT NULL, request TEXT UNIQUE, calibration TEXT
) STRICT;
"""


def key_path(ledger: Path) -> Path:
    return ledger.with_name(ledger.name + ".key")


def stamp_of(ledger: Path) -> tuple[object, ...] | None:
    """Changes whenever the ledger's file or its key does, as the file system tells; None if one of them is gone."""
    try:
        found = [path.stat() for path in (ledger, key_path(ledger))]
    except OSError:
        return None
    return tuple((s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns, s.st_mode) for s in found)


class Store:
    """A ledger file and its key. Opening it creates both, once; one without the other is refused, never replaced."""

    def __init__(self, path: str | os.PathLike) -> None:
        self.path = Path(path)
        self._key_path = key_path(self.path)
        try:
            if self._is_empty():
                self._create()
        except OSError as error:
            raise LedgerError(f"The ledger {self.path} cannot be opened or made ({error.strerror}).") from None
        self._check_layout()
        self.key = read_key(self._key_path)
        with self._transaction("BEGIN") as db:
            self._check_key(db)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """One consistent view; works on a ledger that cannot be written too."""
        with self._transaction("BEGIN") as db:
            self._check_seal(db)
            yield db

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One writer at a time over all processes; on disk when it returns, undone on any error."""
        with self._transaction("BEGIN IMMEDIATE") as db:
            self._check_seal(db)
            yield db
            write_seal(db, self.key)

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
                for statement in TABLES.strip().split(";\n"):
                    db.execute(statement)
                key = create_key(self._key_path)
                db.executemany("INSERT INTO meta VALUES (?, ?)", [("version", VERSION), ("key_check", key_check(key))])
                write_seal(db, key)
        except LedgerError:
            if key is not None and self._is_empty():  # the disk was full: a key without a ledger would be in the way
                self._key_path.unlink()
            raise

    def _check_layout(self) -> None:
        """The file must be whole, a ledger, and of this version."""
        with self._transaction("BEGIN") as db:
            if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone():
                raise LedgerError(
                    f"{self.path} is another program's database, not a ledger. Give the ledger a file of its own."
                )
            (found,) = db.execute("PRAGMA integrity_check(1)").fetchone()
            version = dict(db.execute("SELECT name, value FROM meta")).get("version")
        if found != "ok":
            raise LedgerError(f"The ledger {self.path} is damaged. {RESTORE}")
        if version != VERSION:
            raise LedgerError(
                f"The ledger {self.path} was changed, or written by another version of this program than this one. "
                "Nothing was released. Use that version for it, or restore the ledger from a backup."
            )

    def _check_key(self, db: sqlite3.Connection) -> None:
        row = db.execute("SELECT value FROM meta WHERE name = 'key_check'").fetchone()
        if row is None or row[0] != key_check(self.key):
            raise LedgerError(
                f"The key {self._key_path} is another ledger's. Nothing was released. "
                "Restore the ledger and its key from one backup."
            )

    def _check_seal(self, db: sqlite3.Connection) -> None:
        self._check_key(db)
        if not is_sealed(db, self.key):
            raise LedgerError(f"The ledger {self.path} was damaged or changed by another program. {RESTORE}")

    @contextmanager
    def _transaction(self, begin: str, *, create: bool = False) -> Iterator[sqlite3.Connection]:
        address = f"{self.path.absolute().as_uri()}?mode={'rwc' if create else 'rw'}"
        try:
            with closing(sqlite3.connect(address, uri=True, timeout=WAIT_SECONDS, isolation_level=None)) as db:
                db.execute("PRAGMA synchronous = EXTRA")
                db.execute("PRAGMA foreign_keys = ON")
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
