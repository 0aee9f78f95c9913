"""`Ledger`: budgets a data set, and the one place that spends them."""

import os
import sqlite3
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal

import numpy as np

from ppsets_core.calibration import Calibration, check_binding
from ppsets_core.errors import BudgetError, LedgerError
from ppsets_core.ledger.amounts import amount, difference, shown, total
from ppsets_core.ledger.key import fingerprint
from ppsets_core.ledger.store import Store
from ppsets_core.planning import plan
from ppsets_core.private_quantile import calibrate_as_planned
from ppsets_core.validation import check_scores

LOOK = "Look at the Ledger screen or at `python -m ppsets_core ledger`"
RAISE = "on the Ledger screen or with `python -m ppsets_core ledger raise NAME BUDGET`"


@dataclass(frozen=True)
class DataSet:
    """A named data set's privacy account."""

    name: str
    budget: Decimal
    spent: Decimal

    @property
    def left(self) -> Decimal:
        return difference(self.budget, self.spent)


@dataclass(frozen=True)
class Release:
    """One charge. Without a calibration it is being drawn, or was interrupted: spent, and not released."""

    id: int
    dataset: str
    epsilon: Decimal
    time: str
    calibration: Calibration | None


@dataclass(frozen=True)
class BudgetChange:
    """A budget as it was set or raised."""

    dataset: str
    budget: Decimal
    time: str


class Ledger:
    """Budgets and releases in a SQLite file that several processes may use at once.

    Budgets belong to names, and records to the name under which they were first released: uploading them again under
    another name or in another order charges that first account.
    """

    def __init__(self, path: str | os.PathLike) -> None:
        self._store = Store(path)

    def add(self, name: str, budget: float | str | Decimal) -> DataSet:
        """Open an account. A name is taken once; its budget can only be raised."""
        name, budget = _checked_name(name), amount(budget)
        with self._store.writing() as db:
            if db.execute("SELECT 1 FROM datasets WHERE name = ?", [name]).fetchone():
                raise LedgerError(f"The data set '{name}' is in the ledger already; use it, or choose another name.")
            db.execute("INSERT INTO datasets VALUES (?)", [name])
            _record_budget(db, name, budget)
            return _account(db, name)

    def raise_budget(self, name: str, budget: float | str | Decimal) -> DataSet:
        """Set a larger budget, for good and on record."""
        budget = amount(budget)
        with self._store.writing() as db:
            current = _account(db, name).budget
            if budget <= current:
                raise LedgerError(f"The budget of '{name}' is {shown(current)}; it can only be raised.")
            _record_budget(db, name, budget)
            return _account(db, name)

    def datasets(self) -> list[DataSet]:
        with self._store.reading() as db:
            return [_account(db, name) for (name,) in db.execute("SELECT name FROM datasets ORDER BY rowid").fetchall()]

    def dataset(self, name: str) -> DataSet:
        with self._store.reading() as db:
            return _account(db, name)

    def dataset_of(self, scores: np.ndarray) -> str | None:
        """The data set under which these records, in any order, were released before."""
        with self._store.reading() as db:
            return _owner(db, fingerprint(self._store.key, check_scores(scores)))

    def releases(self, dataset: str | None = None) -> list[Release]:
        """All charges, oldest first, in the order made whatever the clock said."""
        query = "SELECT id, dataset, epsilon, time, calibration FROM releases WHERE ? IN (dataset, '') ORDER BY id"
        with self._store.reading() as db:
            return [_release(row) for row in db.execute(query, [dataset or ""])]

    def budget_changes(self) -> list[BudgetChange]:
        with self._store.reading() as db:
            rows = db.execute("SELECT dataset, budget, time FROM budgets ORDER BY id")
            return [BudgetChange(name, Decimal(budget), time) for name, budget, time in rows]

    def calibrate(
        self,
        dataset: str,
        scores: np.ndarray,
        alpha: float,
        epsilon: float,
        *,
        method: str = "paper",
        m: int | None = None,
        gamma: float | None = None,
        unit: str = "record",
        model: str | None = None,
        uploaded: np.ndarray | None = None,
        request: str | None = None,
    ) -> Calibration:
        """Charge ε, then draw. Over budget nothing is drawn; a crash in between wastes ε and never overspends it.

        A trivial plan is free. `unit` and `model`: what ε protects one of, and whose scores these are, kept with ŝ.
        `uploaded`: all scores of the file that these come from, by which it is known again.
        `request`: an identifier of the user's click; repeating it returns the same release and charges nothing.
        """
        check_binding(unit, model)
        scores = check_scores(scores)
        chosen = plan(len(scores), alpha, epsilon, method=method, m=m, gamma=gamma)
        if chosen.is_trivial:
            return calibrate_as_planned(scores, chosen, unit=unit, model=model)
        records = fingerprint(self._store.key, scores if uploaded is None else check_scores(uploaded))
        request = request or uuid.uuid4().hex
        if earlier := self._charge(dataset, records, amount(chosen.epsilon), request):
            return earlier
        calibration = calibrate_as_planned(scores, chosen, unit=unit, model=model)
        with self._store.writing() as db:
            update = "UPDATE releases SET calibration = ? WHERE request = ? AND calibration IS NULL"
            if db.execute(update, [calibration.to_json(), request]).rowcount != 1:
                raise LedgerError("The ledger was replaced during a release. Nothing was released. Put it back.")
        return calibration

    def _charge(self, dataset: str, records: str, epsilon: Decimal, request: str) -> Calibration | None:
        """On disk when it returns None; the earlier release if this request was charged before."""
        with self._store.writing() as db:
            query = "SELECT id, dataset, epsilon, time, calibration FROM releases WHERE request = ?"
            if row := db.execute(query, [request]).fetchone():
                return _earlier(_release(row))
            account = _account(db, _owner(db, records) or dataset)
            if epsilon > account.left:
                raise BudgetError(
                    f"ε = {shown(epsilon)} is more than the {shown(account.left)} left of the budget of "
                    f"{shown(account.budget)} for '{account.name}'. Nothing was released. "
                    f"Choose a smaller ε, or raise the budget {RAISE}."
                )
            db.execute("INSERT OR IGNORE INTO fingerprints VALUES (?, ?)", [records, account.name])
            row = [account.name, str(epsilon), _now(), request]
            db.execute("INSERT INTO releases (dataset, epsilon, time, request) VALUES (?, ?, ?, ?)", row)
            return None


def _earlier(release: Release) -> Calibration:
    if release.calibration is None:
        raise LedgerError(
            f"This request, charged at {release.time}, is being drawn or was interrupted. {LOOK} before asking again: "
            "another request costs ε anew."
        )
    return release.calibration


def _account(db: sqlite3.Connection, name: str) -> DataSet:
    budget = db.execute("SELECT budget FROM budgets WHERE dataset = ? ORDER BY id DESC LIMIT 1", [name]).fetchone()
    if not budget:
        raise LedgerError(f"The ledger has no data set '{name}'; give it a budget first. {LOOK}.")
    spent = db.execute("SELECT epsilon FROM releases WHERE dataset = ?", [name])
    return DataSet(name, Decimal(budget[0]), total(Decimal(epsilon) for (epsilon,) in spent))


def _owner(db: sqlite3.Connection, records: str) -> str | None:
    row = db.execute("SELECT dataset FROM fingerprints WHERE fingerprint = ?", [records]).fetchone()
    return row[0] if row else None


def _release(row: tuple) -> Release:
    id, dataset, epsilon, time, calibration = row
    return Release(id, dataset, Decimal(epsilon), time, Calibration.from_json(calibration) if calibration else None)


def _record_budget(db: sqlite3.Connection, name: str, budget: Decimal) -> None:
    db.execute("INSERT INTO budgets (dataset, budget, time) VALUES (?, ?, ?)", [name, str(budget), _now()])


def _checked_name(name: str) -> str:
    name = name.strip() if isinstance(name, str) else ""
    if not name or len(name) > 100 or not name.isprintable():
        raise LedgerError("A data set's name must be 1 to 100 printable characters.")
    return name


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
