"""The ledger's seal: a keyed digest of all that is in it, so that a damaged or edited ledger is noticed."""

import hashlib
import hmac
import sqlite3

SEALED = ("meta WHERE name != 'seal'", "datasets", "budgets", "fingerprints", "releases")


def seal_of(db: sqlite3.Connection, key: bytes) -> str:
    """Changes with every cell of every row, the version among them; only who holds the key can make it."""
    digest = hmac.new(key, b"seal:", hashlib.sha256)
    for table in SEALED:
        for row in db.execute(f"SELECT * FROM {table} ORDER BY rowid"):
            digest.update(repr((table, row)).encode())
    return digest.hexdigest()


def write_seal(db: sqlite3.Connection, key: bytes) -> None:
    db.execute("INSERT OR REPLACE INTO meta VALUES ('seal', ?)", [seal_of(db, key)])


def is_sealed(db: sqlite3.Connection, key: bytes) -> bool:
    """Whether the rows are the ones that this key sealed last."""
    row = db.execute("SELECT value FROM meta WHERE name = 'seal'").fetchone()
    return row is not None and hmac.compare_digest(row[0].encode(), seal_of(db, key).encode())
