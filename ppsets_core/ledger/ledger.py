"""`Ledger`: a budget for each account, what each patient has lost, and the one place that spends."""

import os
import uuid
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from functools import partial
from pathlib import PurePath
from typing import TypedDict, TypeVar, Unpack

from ppsets_core.access import CURATOR, STEWARD
from ppsets_core.data.counts import DescribedRecords
from ppsets_core.errors import InputError, LedgerError, RepeatError
from ppsets_core.files.names import clean_name
from ppsets_core.ledger import charging
from ppsets_core.ledger.accounts import (
    CALIBRATION,
    PUBLISHED,
    WITHDRAWN,
    Account,
    Actor,
    Published,
    Release,
    Snapshot,
    snapshot_of,
    who_and_why,
)
from ppsets_core.ledger.amounts import amount, shown
from ppsets_core.ledger.charging import RAISE, Cohort
from ppsets_core.ledger.store import Store, cohort_key, stamp_of
from ppsets_core.method.calibration import BaseCalibration, Calibration, check_binding, now
from ppsets_core.method.counts import Countable
from ppsets_core.method.plan import Plan
from ppsets_core.method.private_check import CHECK, PrivateCheck, check_can_be_checked, digest_of, private_check
from ppsets_core.method.release import release, untouched
from ppsets_core.validation import check_name, check_names

LOOK = "Look at the Ledger screen or at `ppsets ledger`"
LONGEST_REASON = 500
Result = TypeVar("Result", Calibration, PrivateCheck)


class By(TypedDict, total=False):
    """Who changes the ledger, and why; both are stored and exported."""

    actor: Actor | None
    reason: str | None


class Asked(By, total=False):
    """Who spends and why. `request` identifies the click: repeating it returns the same release and costs nothing.
    `again`: pay and draw anew, although an identical release was paid for before."""

    request: str | None
    again: bool


class Ledger:
    """Budgets, losses and releases in a SQLite file that several processes may use at once.

    A release is charged to everyone in it, under whatever name they were charged before, and needs room for each within
    the budget of the account that pays. Records that name no patient count for everyone in the account. See
    docs/method.md#budget.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._store = Store(path)
        self._seen: tuple[object, Snapshot] | None = None

    # Looking

    def snapshot(self) -> Snapshot:
        """The whole ledger at one moment. Read, and its seals checked, only if the file has changed."""
        stamp = stamp_of(self._store.path)
        if stamp is None or self._seen is None or self._seen[0] != stamp:
            with self._store.reading() as log:
                self._seen = (stamp, snapshot_of(log.entries))
        return self._seen[1]

    def accounts(self) -> tuple[Account, ...]:
        """All accounts."""
        return self.snapshot().accounts

    def account(self, name: str) -> Account:
        """The account of that name, however it is spelt."""
        return _account(self._payers(), name)

    def account_names(self) -> list[str]:
        """The names of all accounts that may be charged, to choose from."""
        return [account.name for account in self._payers().accounts]

    def _payers(self) -> Snapshot:
        """Where the accounts that may be charged are looked up."""
        return self.snapshot()

    def releases(self, account: str | None = None) -> list[Release]:
        """All charges in the order they were made, or those to one account, by name."""
        return [one for one in self.snapshot().releases if account in (None, one.account)]

    def knows(self, calibration: Calibration) -> bool:
        """Whether exactly this calibration was released from here."""
        return calibration in self._calibrations()

    def knows_otherwise(self, calibration: Calibration) -> bool:
        """Whether a release of the same data set, date, rule, α, ε and n has other numbers in it."""
        same = ("dataset", "date", "n", "alpha", "epsilon", "method", "per")
        return not self.knows(calibration) and any(
            all(getattr(calibration, name) == getattr(one, name) for name in same) for one in self._calibrations()
        )

    def _calibrations(self) -> list[Calibration]:
        return [one.calibration for one in self.releases() if one.calibration is not None]

    def loss_in_words(self, account: str) -> str:
        """What any one patient has lost at most through releases under this name, to print or to say.

        From public numbers alone, so it answers for everyone and reveals nothing about anyone.
        """
        seen = self.snapshot()
        return seen.loss_in_words(_account(seen, account))

    def published(self) -> list[Published]:
        """The calibrations on the shelf, newest first: what viewers choose from."""
        return self.snapshot().published()

    def account_for(
        self, records: Countable, name: str | None = None, budget: float | str | Decimal | None = None
    ) -> Account | None:
        """The account of that name, or of the records' source; else a new one with that budget; None without a budget.

        Asking opens and charges nothing. Only the source's name is read from the records: asking must not reveal
        whether the ledger has met them.

        records: as `read_scores` returns them.
        name: of the data set; it is stored and exported, so it must name no patient.
        budget: the ε that any one patient may ever lose; needed for a new account, and an error where it differs.
        """
        return self.account_named(PurePath(records.source).stem if name is None else name, budget)

    def account_named(self, name: str, budget: float | str | Decimal | None = None) -> Account | None:
        """The account of that name, however it is spelt; else a new one with that budget; None without a budget."""
        name = _checked_name(name)
        found = self._payers().account(name)
        if found is None:
            return None if budget is None else Account(name, amount(budget), Decimal(0), is_new=True)
        if budget is not None and amount(budget) != found.budget:
            raise LedgerError(
                f"The budget of '{found.name}' is {shown(found.budget)} already; leave the budget out, or {RAISE}."
            )
        return found

    # Whom a release is charged to

    @property
    def cohort_key(self) -> bytes:
        """The key for hashes of patients on other machines; it seals nothing."""
        return cohort_key(self._store.key)

    def cohorts(self, n: int) -> Callable[[], charging.CohortBuilder]:
        """Make builders for the cohort of n records in all, on any machine that reads them."""
        return partial(charging.CohortBuilder, self.cohort_key, listed=n <= charging.MOST_RECORDS)

    def cohort_of_patients(self, patients: Sequence[str | None]) -> Cohort:
        """The cohort of X-rays, one entry each: the patient, '' where its row is blank, None where no column names any.

        More than the ledger lists, or one of None, count for everyone in the account.
        """
        by_patient = None not in patients and len(patients) <= charging.MOST_RECORDS
        names = [patient or "" for patient in patients] if by_patient else []
        return Cohort(charging.patient_hashes(self.cohort_key, names), by_patient)

    # Changing

    def open_account(self, name: str, budget: float | str | Decimal, **by: Unpack[By]) -> Account:
        """Open an account. A name is taken once, however it is spelt; its budget can only be raised.

        name: of the data set; it must name no patient.
        budget: the ε that any one patient may ever lose.
        actor, reason: who opens it and why; both are stored and exported.
        """
        because = self._sign(STEWARD, by)
        name, exact = _checked_name(name), amount(budget)
        with self._store.writing() as log:
            if found := snapshot_of(log.entries).account(name):
                raise LedgerError(
                    f"The data set '{found.name}' is in the ledger already; use it, or choose another name."
                )
            log.append("budget", {"account": name, "budget": str(exact), "time": now(), **because})
        return Account(name, exact, Decimal(0))

    def raise_budget(self, name: str, budget: float | str | Decimal, **by: Unpack[By]) -> Account:
        """Set a larger budget, for good and on record.

        name: of the account.
        budget: the new ε that any one patient may ever lose; larger than before.
        actor, reason: who raises it and why; both are stored and exported.
        """
        because, exact = self._sign(STEWARD, by), amount(budget)
        with self._store.writing() as log:
            current = _account(snapshot_of(log.entries), name)
            if exact <= current.budget:
                raise LedgerError(f"The budget of '{current.name}' is {shown(current.budget)}; it can only be raised.")
            log.append("budget", {"account": current.name, "budget": str(exact), "time": now(), **because})
        return Account(current.name, exact, current.spent)

    def release(self, records: Countable, plan: Plan, account: Account, **asked: Unpack[Asked]) -> Calibration:
        """Charge ε, then draw as planned.

        Over budget nothing is drawn; a crash in between wastes ε and never overspends it. A trivial plan is free. The
        first charge to a new account opens it.

        records: as `read_scores` returns them, or a selection of a data set's.
        plan: as `plan` returns it, for as many records.
        account: who pays, as `account_for` returns it.
        request: identifies the click. Repeating it returns the same release and charges nothing.
        again: pay and draw anew, although an identical release was paid for before; otherwise that is a `RepeatError`.
        actor, reason: who spends and why; both are stored and exported.
        """
        _check_payment(records, account, asked)
        records.check_plan(plan)
        if plan.is_trivial:
            return release(untouched(records, plan), dataset=account.name)
        facts = (plan.with_classes(records.classes), records.classes, records.score, records.model, records.unit)
        self._refuse_repeat(account, facts, asked)
        counts = records.counts(plan, self.cohorts(len(records))).prepared()
        charged = self.charge(charging.cohort_of(counts), plan.epsilon, account, kind=CALIBRATION, **asked)
        if charged.result is not None:
            return Calibration.from_json(charged.result)
        return self._keep(charged, release(counts, dataset=charged.account))

    def check(
        self,
        records: DescribedRecords,
        calibration: BaseCalibration,
        account: Account,
        epsilon: float,
        *,
        per: str | None = None,
        **asked: Unpack[Asked],
    ) -> PrivateCheck:
        """Charge ε, then release how many of these patients the calibration's sets covered, in all or per diagnosis."""
        _check_payment(records, account, asked)
        epsilon = check_can_be_checked(records.classes, calibration, epsilon, per)
        counts = records.coverage(calibration, self.cohorts(len(records)))
        facts = (len(counts), epsilon, per, digest_of(calibration), counts.model, counts.unit)
        self._refuse_repeat(account, facts, asked)
        charged = self.charge(charging.cohort_of(counts), epsilon, account, kind=CHECK, **asked)
        if charged.result is not None:
            return PrivateCheck.from_json(charged.result)
        return self._keep(charged, private_check(counts, epsilon, per=per, dataset=charged.account))

    def charge(
        self,
        cohort: Cohort,
        epsilon: float | Decimal,
        account: Account,
        *,
        kind: str,
        delta: float = 0.0,
        **asked: Unpack[Asked],
    ) -> Release:
        """Charge ε (and δ) to all of these people; on disk when it returns. Nothing else spends.

        A mechanism may draw from their records afterwards, never before. Where someone has no room, nothing is charged
        and the refusal is recorded. A request that was charged before is returned with its result.
        """
        because = self._sign(CURATOR, asked)
        self._check_opening(account)
        price = charging.price_of(cohort, amount(epsilon), delta)
        request = asked.get("request") or uuid.uuid4().hex
        with self._store.writing() as log:
            seen = snapshot_of(log.entries)
            if request in seen.requests:
                return _drawn(seen.requests[request])
            payer = seen.account(account.name) or (account if account.is_new else _unknown(account.name))
            charging.check_open(seen, payer, price)
            body: dict[str, object] = {
                "account": payer.name,
                "kind": kind,
                "epsilon": str(price.epsilon),
                "time": now(),
                **because,
            }
            if payer.is_new:
                log.append("budget", {"account": payer.name, "budget": str(payer.budget), "time": now(), **because})
            can_pay = charging.has_room(log, seen, payer, cohort, price)
            if can_pay:
                body |= {"delta": str(price.delta), "request": request, "counted_by": cohort.counted_by}
                stored = log.store_cohort(cohort.people.cells) if cohort.by_patient else None
                number = max((one.id for one in seen.releases), default=0) + 1
                log.append("charge", body | {"number": number, "cohort": stored})
            else:
                log.append("refused", body | {"budget": str(payer.budget)})
        if not can_pay:
            raise charging.no_room(payer, price, cohort)
        return snapshot_of(log.entries).releases[-1]

    def keep_result(self, charged: Release, text: str) -> None:
        """Store what was drawn for a charge; on disk before it is handed out."""
        with self._store.writing() as log:
            seen = snapshot_of(log.entries)
            if charged not in seen.releases:
                raise LedgerError("The ledger was replaced during a release. Nothing was released. Put it back.")
            log.append("result", {"charge": charged.id, "text": text})

    def publish(self, released: Release, **by: Unpack[By]) -> None:
        """Put a release's calibration on the shelf, for every viewer to use.

        released: one of `releases()`, a calibration that was drawn.
        actor, reason: who publishes it and why; both are stored and exported.
        """
        because = self._sign(CURATOR, by)
        if released not in self.releases():
            raise LedgerError(f"The ledger has no release {released.id} that you may publish.")
        if released.calibration is None:
            raise LedgerError(
                f"Release {released.id} has no calibration to publish: it is a {released.kind}, {released.status}."
            )
        self._move(PUBLISHED, released.id, because)

    def withdraw(self, released: Release | Published, **by: Unpack[By]) -> None:
        """Take a release off the shelf. Copies that were downloaded before stay with those who have them.

        released: one of `releases()` or of `published()`.
        actor, reason: who withdraws it and why; both are stored and exported.
        """
        number = released.release if isinstance(released, Published) else released.id
        self._move(WITHDRAWN, number, self._sign(STEWARD, by))

    def _move(self, kind: str, release: int, because: Mapping[str, str]) -> None:
        with self._store.writing() as log:
            is_published = release in [one.release for one in snapshot_of(log.entries).published()]
            if is_published == (kind == PUBLISHED):
                raise LedgerError(f"Release {release} is {'already' if is_published else 'not'} on the shelf.")
            log.append(kind, {"release": release, "time": now(), **because})

    def _refuse_repeat(self, account: Account, facts: tuple[object, ...], asked: Asked) -> None:
        """Refuse what was paid for before, by public facts alone: whether the ledger has met these very records must
        not be revealed."""
        alike = [one for one in self.releases(account.name) if one.facts == facts]
        if not alike or asked.get("again") or asked.get("request") in self.snapshot().requests:
            return
        last = alike[-1]
        raise RepeatError(
            f"Release no. {last.id} of '{last.account}' ({last.time[:16].replace('T', ' ')} UTC) has the same plan, "
            "model and number of records. Nothing was charged. Using it again is free.",
            last,
        )

    def _keep(self, charged: Release, drawn: Result) -> Result:
        self.keep_result(charged, drawn.to_json())
        return drawn

    def _sign(self, role: str, by: By) -> dict[str, str]:
        """Who and why, as they are stored. Here anyone with the file may; a `PersonalLedger` asks for the role."""
        reason = by.get("reason")
        words = who_and_why(by.get("actor"), reason.strip() or None if isinstance(reason, str) else reason)
        for word in words.values():
            if not isinstance(word, str) or len(word) > LONGEST_REASON or not word.isprintable():
                raise LedgerError(f"Who and why must be at most {LONGEST_REASON} printable characters on one line.")
        return words

    def _check_opening(self, account: Account) -> None:
        """Whether a charge may open this account if it is new: always, with the file in one's own hands."""


def _drawn(charged: Release) -> Release:
    if charged.result is not None:
        return charged
    raise LedgerError(
        f"This request, charged at {charged.time}, is being drawn or was interrupted. {LOOK} before asking again: "
        "another request costs ε anew."
    )


def _account(seen: Snapshot, name: str) -> Account:
    return seen.account(name) or _unknown(name)


def _unknown(name: str) -> Account:
    raise LedgerError(f"The ledger has no data set '{name}'; give it a budget first. {LOOK}.")


def _check_payment(records: Countable, account: Account, asked: Asked) -> None:
    if unknown := sorted(set(asked) - Asked.__annotations__.keys() - By.__annotations__.keys()):
        raise TypeError(f"A release has no argument '{unknown[0]}'.")
    if not hasattr(records, "counts"):
        raise InputError("A release is made from records, as `read_scores` returns them, not from bare scores.")
    if not isinstance(account, Account):
        raise LedgerError("A release needs an account to charge: `account_for` with a name and a budget gives one.")
    check_binding(records.unit, records.model, account.name)
    check_names(records.classes, "The classes")  # what is paid for must be readable afterwards


def _checked_name(name: str) -> str:
    try:
        return check_name(clean_name(check_name(name.strip() if isinstance(name, str) else name)))
    except InputError:
        raise LedgerError("A data set's name must be 1 to 100 printable characters.") from None
