"""`Ledger`: a budget for each data set, and the one place that spends them."""

import os
import sqlite3
import uuid
from collections.abc import Callable
from decimal import Decimal
from typing import cast

from ppsets_core.calibration import Calibration, Drawn, check_binding, now
from ppsets_core.errors import BudgetError, InputError, LedgerError
from ppsets_core.ledger.accounts import Account, BudgetChange, Release, Snapshot
from ppsets_core.ledger.amounts import amount, shown, total
from ppsets_core.ledger.key import fingerprint
from ppsets_core.ledger.store import Store, stamp_of
from ppsets_core.planning import Plan
from ppsets_core.private_check import PrivateCheck, check_can_be_checked, private_check
from ppsets_core.private_quantile import check_plan, release
from ppsets_core.records.records import Records
from ppsets_core.validation import check_name

LOOK = "Look at the Ledger screen or at `ppsets ledger`"
RAISE = "on the Ledger screen or with `ppsets ledger raise NAME BUDGET`"


class Ledger:
    """Budgets and releases in a SQLite file that several processes may use at once.

    Budgets belong to names, and records to the name under which they were first released: uploading them again under
    another name or in another order charges that first account. See docs/method.md#budget.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._store = Store(path)
        self._seen: tuple[object, Snapshot] | None = None

    # Looking

    def snapshot(self) -> Snapshot:
        """All that is in the ledger, at one moment. Read, and its seal checked, only if the file has changed."""
        stamp = stamp_of(self._store.path)
        if stamp is None or self._seen is None or self._seen[0] != stamp:
            with self._store.reading() as db:
                self._seen = (stamp, _snapshot(db))
        return self._seen[1]

    def accounts(self) -> tuple[Account, ...]:
        return self.snapshot().accounts

    def account(self, name: str) -> Account:
        return self.snapshot().account(name) or _unknown(name)

    def releases(self, account: str | None = None) -> list[Release]:
        """All charges, oldest first, in the order made whatever the clock said."""
        return [one for one in self.snapshot().releases if account in (None, one.account)]

    def budget_changes(self) -> tuple[BudgetChange, ...]:
        return self.snapshot().budget_changes

    def account_for(
        self, records: Records, name: str | None = None, budget: float | str | Decimal | None = None
    ) -> Account | None:
        """The account that a release of these records is charged to. Nothing is opened or charged by asking.

        It is the one that knows the records, in any order and whatever it is called; else the one of that name; else a
        new one of that name and budget. None where it takes a name, or a budget, to tell.
        """
        snapshot = self.snapshot()
        owner = snapshot.owners.get(fingerprint(self._store.key, records.identity))
        name = owner or (None if name is None else _checked_name(name))
        if name is None:
            return None
        found = snapshot.account(name)
        if found is None:
            return None if budget is None else Account(name, amount(budget), Decimal(0), is_new=True)
        if budget is not None and amount(budget) != found.budget:
            raise LedgerError(
                f"The budget of '{name}' is {shown(found.budget)} already; leave the budget out, or raise it {RAISE}."
            )
        return found

    # Changing

    def open_account(self, name: str, budget: float | str | Decimal) -> Account:
        """A name is taken once; its budget can only be raised."""
        name, exact = _checked_name(name), amount(budget)
        with self._store.writing() as db:
            if _find(db, name):
                raise LedgerError(f"The data set '{name}' is in the ledger already; use it, or choose another name.")
            _open(db, name, exact)
            return _account(db, name)

    def raise_budget(self, name: str, budget: float | str | Decimal) -> Account:
        """Set a larger budget, for good and on record."""
        exact = amount(budget)
        with self._store.writing() as db:
            current = _account(db, name).budget
            if exact <= current:
                raise LedgerError(f"The budget of '{name}' is {shown(current)}; it can only be raised.")
            _record_budget(db, name, exact)
            return _account(db, name)

    def release(self, records: Records, plan: Plan, account: Account, *, request: str | None = None) -> Calibration:
        """Charge ε, then draw as planned. The only call that spends.

        Over budget nothing is drawn; a crash in between wastes ε and never overspends it. A trivial plan is free. A new
        account is opened by its first charge. `request` identifies the user's click: repeating it returns the same
        release and charges nothing.
        """
        _check_payment(records, account)
        check_plan(records, plan)
        if plan.is_trivial:
            return release(records, plan, dataset=account.name)

        def draw(dataset: str) -> Calibration:
            return release(records, plan, dataset=dataset)

        return cast(Calibration, self._spend(records, account, plan.epsilon, draw, request))

    def check(
        self,
        records: Records,
        calibration: Drawn,
        account: Account,
        epsilon: float,
        *,
        per: str | None = None,
        request: str | None = None,
    ) -> PrivateCheck:
        """Charge ε, then release how many of these patients the calibration's sets covered, all or per diagnosis."""
        _check_payment(records, account)
        check_can_be_checked(records, calibration, epsilon, per)

        def draw(dataset: str) -> PrivateCheck:
            return private_check(records, calibration, epsilon, per=per, dataset=dataset)

        return cast(PrivateCheck, self._spend(records, account, epsilon, draw, request))

    def _spend(
        self,
        records: Records,
        account: Account,
        epsilon: float,
        draw: Callable[[str], Calibration | PrivateCheck],
        request: str | None,
    ) -> Calibration | PrivateCheck:
        """Charge, draw, keep what was drawn; a request that was charged before gets what it was given then."""
        request = request or uuid.uuid4().hex
        owner = fingerprint(self._store.key, records.identity)
        charged = self._charge(account, owner, amount(epsilon), request)
        if not isinstance(charged, str):
            return charged
        drawn = draw(charged)
        with self._store.writing() as db:
            update = "UPDATE releases SET calibration = ? WHERE request = ? AND calibration IS NULL"
            if db.execute(update, [drawn.to_json(), request]).rowcount != 1:
                raise LedgerError("The ledger was replaced during a release. Nothing was released. Put it back.")
        return drawn

    def _charge(self, wanted: Account, owner: str, epsilon: Decimal, request: str) -> Calibration | PrivateCheck | str:
        """The account charged, on disk when it returns; the earlier release if this request was charged before."""
        with self._store.writing() as db:
            query = "SELECT id, dataset, epsilon, time, calibration FROM releases WHERE request = ?"
            if row := db.execute(query, [request]).fetchone():
                return _earlier(_release(row))
            name = _owners(db).get(owner) or wanted.name
            if wanted.is_new and name == wanted.name and not _find(db, name):
                _open(db, name, wanted.budget)
            account = _account(db, name)
            if epsilon > account.left:
                raise BudgetError(
                    f"ε = {shown(epsilon)} is more than the {shown(account.left)} left of the budget of "
                    f"{shown(account.budget)} for '{account.name}'. Nothing was released. "
                    f"Choose a smaller ε, or raise the budget {RAISE}."
                )
            db.execute("INSERT OR IGNORE INTO fingerprints VALUES (?, ?)", [owner, account.name])
            row = [account.name, str(epsilon), now(), request]
            db.execute("INSERT INTO releases (dataset, epsilon, time, request) VALUES (?, ?, ?, ?)", row)
            return account.name


def _check_payment(records: Records, account: Account) -> None:
    if not isinstance(records, Records):
        raise InputError("A release is made from records, as `read_scores` returns them, not from bare scores.")
    if not isinstance(account, Account):
        raise LedgerError("A release needs an account to charge: `account_for` with a name and a budget gives one.")
    check_binding(records.unit, records.model, account.name)


def _earlier(release: Release) -> Calibration | PrivateCheck:
    if (result := release.calibration or release.check) is None:
        raise LedgerError(
            f"This request, charged at {release.time}, is being drawn or was interrupted. {LOOK} before asking again: "
            "another request costs ε anew."
        )
    return result


def _snapshot(db: sqlite3.Connection) -> Snapshot:
    names = [name for (name,) in db.execute("SELECT name FROM datasets ORDER BY rowid")]
    releases = db.execute("SELECT id, dataset, epsilon, time, calibration FROM releases ORDER BY id").fetchall()
    budgets = db.execute("SELECT dataset, budget, time FROM budgets ORDER BY id").fetchall()
    return Snapshot(
        tuple(_account(db, name) for name in names),
        tuple(_release(row) for row in releases),
        tuple(BudgetChange(name, Decimal(budget), time) for name, budget, time in budgets),
        _owners(db),
    )


def _owners(db: sqlite3.Connection) -> dict[str, str]:
    """Which account knows the records of each fingerprint."""
    return dict(db.execute("SELECT fingerprint, dataset FROM fingerprints").fetchall())


def _find(db: sqlite3.Connection, name: str) -> bool:
    return db.execute("SELECT 1 FROM datasets WHERE name = ?", [name]).fetchone() is not None


def _open(db: sqlite3.Connection, name: str, budget: Decimal) -> None:
    db.execute("INSERT INTO datasets VALUES (?)", [name])
    _record_budget(db, name, budget)


def _account(db: sqlite3.Connection, name: str) -> Account:
    budget = db.execute("SELECT budget FROM budgets WHERE dataset = ? ORDER BY id DESC LIMIT 1", [name]).fetchone()
    if not budget:
        return _unknown(name)
    spent = db.execute("SELECT epsilon FROM releases WHERE dataset = ?", [name])
    return Account(name, Decimal(budget[0]), total(Decimal(epsilon) for (epsilon,) in spent))


def _unknown(name: str) -> Account:
    raise LedgerError(f"The ledger has no data set '{name}'; give it a budget first. {LOOK}.")


def _release(row: tuple[int, str, str, str, str | None]) -> Release:
    number, account, epsilon, time, result = row
    return Release(number, account, Decimal(epsilon), time, result)


def _record_budget(db: sqlite3.Connection, name: str, budget: Decimal) -> None:
    db.execute("INSERT INTO budgets (dataset, budget, time) VALUES (?, ?, ?)", [name, str(budget), now()])


def _checked_name(name: str) -> str:
    try:
        return check_name(name.strip() if isinstance(name, str) else name)
    except InputError:
        raise LedgerError("A data set's name must be 1 to 100 printable characters.") from None
