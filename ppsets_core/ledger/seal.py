"""The ledger's seal: a chain of keyed digests over schema and rows, so that damage, edits and cuts are noticed."""

import hashlib
import hmac
import json
import sqlite3
from dataclasses import dataclass
from typing import Any

SCHEMA = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name"


@dataclass(frozen=True)
class Entry:
    """One thing that happened, and the digest of it and of all before it."""

    id: int
    kind: str
    text: str
    seal: str

    @property
    def body(self) -> dict[str, Any]:
        return json.loads(self.text)


def first_seal(db: sqlite3.Connection, key: bytes) -> str:
    """Over tables, triggers and whatever else is in the schema, the version and the key's own check."""
    parts = [*db.execute(SCHEMA), *db.execute("SELECT name, value FROM meta ORDER BY name")]
    return _digest(key, "schema", *(repr(part) for part in parts))


def next_seal(key: bytes, before: str, number: int, kind: str, text: str) -> str:
    return _digest(key, "entry", before, str(number), kind, text)


def sealed_entries(db: sqlite3.Connection, key: bytes) -> tuple[list[Entry], list[str]] | None:
    """All entries and the seals from the schema's on, if each is the one that this key made; else None."""
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
