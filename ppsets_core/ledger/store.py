"""The ledger's SQLite file: its tables, and transactions that are on disk when they return."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from ppsets_core.errors import LedgerError
from ppsets_core.ledger.key import create_key, key_check, read_key

VERSION = "1"
WAIT_SECONDS = 60
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


class Store:
    """A ledger file and its key. Opening it creates both, once; one without the other is refused, never replaced."""

    def __init__(self, path: str | os.PathLike) -> None:
        self.path = Path(path)
        self._key_path = self.path.with_name(self.path.name + ".key")
        if not self._is_laid_out():
            self._create()
        with self.reading() as db:
            meta = dict(db.execute("SELECT name, value FROM meta"))
        if meta.get("version") != VERSION:
            raise LedgerError(f"The ledger {self.path} was written by another version of this program.")
        self.key = read_key(self._key_path)
        if meta.get("key_check") != key_check(self.key):
            raise LedgerError(f"The key {self._key_path} is another ledger's. Restore the right one from a backup.")

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """One consistent view; works on a ledger that cannot be written too."""
        with self._transaction("BEGIN") as db:
            yield db

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One writer at a time over all processes; on disk when it returns, undone on any error."""
        with self._transaction("BEGIN IMMEDIATE") as db:
            yield db

    def _is_laid_out(self) -> bool:
        if not self.path.exists():
            return False
        with self.reading() as db:
            return bool(db.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone())

    def _create(self) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise LedgerError(f"The ledger's folder {self.path.parent} cannot be made ({error.strerror}).") from None
        with self.writing() as db:
            if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone():
                return
            if self._key_path.exists():
                raise LedgerError(
                    f"The ledger {self.path} is empty or gone, but its key is there. Restore the ledger from a backup: "
                    f"a new one would forget what was spent. If it never held anything, remove {self._key_path}."
                )
            os.chmod(self.path, 0o600)
            for statement in TABLES.strip().split(";\n"):
                db.execute(statement)
            meta = [("version", VERSION), ("key_check", key_check(create_key(self._key_path)))]
            db.executemany("INSERT INTO meta VALUES (?, ?)", meta)

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        try:
            with closing(sqlite3.connect(self.path, timeout=WAIT_SECONDS, isolation_level=None)) as db:
                db.execute("PRAGMA synchronous = EXTRA")
                db.execute("PRAGMA foreign_keys = ON")
                db.execute(begin)
                try:
                    yield db
                except BaseException:
                    db.execute("ROLLBACK")
                    raise
                db.execute("COMMIT")
        except sqlite3.Error as error:
            raise LedgerError(
                f"The ledger {self.path} cannot be used ({error}). Nothing was released. Check that the file is whole, "
                "that it can be written and that the disk is not full; restore a damaged one from a backup."
            ) from None
