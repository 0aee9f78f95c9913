"""Ledgers of version 3, which counted by data set: read once, checked by their own seal, and brought up to date."""

import hashlib
import hmac
import json
import sqlite3
from typing import Any

import numpy as np

VERSION = "3"
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
_SEALED = ("meta WHERE name != 'seal'", "datasets", "budgets", "fingerprints", "releases")
_SCHEMA = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name"


def fingerprint(key: bytes, scores: np.ndarray) -> str:
    """By which a ledger of version 3 knew the same records again, in any order."""
    canonical = np.sort(np.asarray(scores, dtype="<f8") + 0.0).tobytes()
    return hmac.new(key, b"records:" + canonical, hashlib.sha256).hexdigest()


def is_version_3(db: sqlite3.Connection) -> bool:
    return db.execute("SELECT value FROM meta WHERE name = 'version'").fetchone() == (VERSION,)


def is_sealed(db: sqlite3.Connection, key: bytes) -> bool:
    """Whether the tables are version 3's and nothing else, and the rows those that this key sealed last."""
    with sqlite3.connect(":memory:") as plain:
        plain.executescript(TABLES)
        if db.execute(_SCHEMA).fetchall() != plain.execute(_SCHEMA).fetchall():
            return False
    digest = hmac.new(key, b"seal:", hashlib.sha256)
    for table in _SEALED:
        for row in db.execute(f"SELECT * FROM {table} ORDER BY rowid"):
            digest.update(repr((table, row)).encode())
    row = db.execute("SELECT value FROM meta WHERE name = 'seal'").fetchone()
    return row is not None and hmac.compare_digest(row[0].encode(), digest.hexdigest().encode())


def entries_of(db: sqlite3.Connection) -> list[tuple[str, dict[str, Any]]]:
    """All that it says, as entries of this version. No charge names a cohort: it counts for the account as a whole."""
    entries: list[tuple[str, dict[str, Any]]] = []
    for name, budget, time in db.execute("SELECT dataset, budget, time FROM budgets ORDER BY id"):
        entries.append(("budget", {"account": name, "budget": budget, "time": time}))
    for identity, name in db.execute("SELECT fingerprint, dataset FROM fingerprints ORDER BY rowid"):
        entries.append(("known", {"account": name, "identity": identity}))
    query = "SELECT id, dataset, epsilon, time, request, calibration FROM releases ORDER BY id"
    for number, name, epsilon, time, request, calibration in db.execute(query):
        kind = json.loads(calibration or "{}").get("kind")
        kind = "check" if kind == "check" else "calibration"
        body = {"number": number, "account": name, "kind": kind, "epsilon": epsilon, "delta": "0"}
        entries.append(("charge", body | {"time": time, "request": request, "counted_by": "data set", "cohort": None}))
        if calibration is not None:
            entries.append(("result", {"charge": number, "text": calibration}))
    return entries


def clear(db: sqlite3.Connection) -> None:
    for table in ("releases", "fingerprints", "budgets", "datasets", "meta"):
        db.execute(f"DROP TABLE {table}")
