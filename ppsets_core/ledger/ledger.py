"""`Ledger`: a budget for each account, what each patient has lost, and the one place that spends."""

import os
import uuid
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from functools import partial
from pathlib import PurePath

from ppsets_core.data.checked import Checked
from ppsets_core.data.counting import CHANGED, Counted
from ppsets_core.data.records import Records
from ppsets_core.errors import FileError, InputError, LedgerError
from ppsets_core.files.names import clean_name
from ppsets_core.ledger import version3
from ppsets_core.ledger.accounts import CALIBRATION, Account, Actor, BudgetChange, Refusal, Release, Snapshot
from ppsets_core.ledger.amounts import amount, shown
from ppsets_core.ledger.charging import RAISE, check_open, has_room, no_room, price_of
from ppsets_core.ledger.cohort import MOST, Cohort, Gathering, cohort_of, is_former, patients_only
from ppsets_core.ledger.key import cohort_key
from ppsets_core.ledger.losses import Kept
from ppsets_core.ledger.reading import snapshot_of, who_and_why
from ppsets_core.ledger.store import Log, Store, stamp_of
from ppsets_core.method.calibration import Calibration, Drawn, check_binding, now
from ppsets_core.method.plan import Plan
from ppsets_core.method.private_check import CHECK, PrivateCheck, check_can_be_checked, private_check
from ppsets_core.method.release import check_plan, release
from ppsets_core.validation import check_name, check_names

LOOK = "Look at the Ledger screen or at `ppsets ledger`"
LONGEST_REASON = 500


class Ledger:
    """Budgets, losses and releases in a SQLite file that several processes may use at once.

    Losses belong to patients, whatever the data set they come in is called: a release is charged to everyone in it, and
    needs room for each within the budget of the account that asks. See docs/method.md#budget.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._store = Store(path)
        self._seen: tuple[object, Snapshot] | None = None

    # Looking

    def snapshot(self) -> Snapshot:
        """All that is in the ledger, at one moment. Read, and its seals checked, only if the file has changed."""
        stamp = stamp_of(self._store.path)
        if stamp is None or self._seen is None or self._seen[0] != stamp:
            with self._store.reading() as log:
                self._seen = (stamp, snapshot_of(log.entries))
        return self._seen[1]

    def accounts(self) -> tuple[Account, ...]:
        return self.snapshot().accounts

    def account(self, name: str) -> Account:
        return _account(self.snapshot(), name)

    def releases(self, account: str | None = None) -> list[Release]:
        """All charges, oldest first, in the order made whatever the clock said."""
        return [one for one in self.snapshot().releases if account in (None, one.account)]

    def knows(self, calibration: Calibration) -> bool:
        """Whether it was released from here, number by number as it is."""
        return calibration in self._calibrations()

    def knows_otherwise(self, calibration: Calibration) -> bool:
        """Whether the same was released (data set, date, rule, α, ε and n) with other numbers in it."""
        same = ("dataset", "date", "n", "alpha", "epsilon", "method", "per")
        return not self.knows(calibration) and any(
            all(getattr(calibration, name) == getattr(one, name) for name in same) for one in self._calibrations()
        )

    def _calibrations(self) -> list[Calibration]:
        return [one.calibration for one in self.releases() if one.calibration is not None]

    def budget_changes(self) -> tuple[BudgetChange, ...]:
        return self.snapshot().budget_changes

    def refusals(self) -> tuple[Refusal, ...]:
        return self.snapshot().refusals

    def account_for(
        self, records: Records | Counted | Checked, name: str | None = None, budget: float | str | Decimal | None = None
    ) -> Account | None:
        """The account of that name, or of the records' source; else a new one with that budget; None without a budget.

        Nothing is opened, charged or looked up by asking. Of the records only the source's name is read: whether the
        ledger has met them is nobody's to ask.
        """
        return self.account_named(PurePath(records.source).stem if name is None else name, budget)

    def account_named(self, name: str, budget: float | str | Decimal | None = None) -> Account | None:
        """The account of that name, however it is spelt; else a new one with that budget; None without a budget."""
        name = _checked_name(name)
        found = self.snapshot().account(name)
        if found is None:
            return None if budget is None else Account(name, amount(budget), Decimal(0), is_new=True)
        if budget is not None and amount(budget) != found.budget:
            raise LedgerError(
                f"The budget of '{found.name}' is {shown(found.budget)} already; leave the budget out, "
                f"or raise it {RAISE}."
            )
        return found

    # Whom a release is charged to

    @property
    def cohort_key(self) -> bytes:
        """For `cohort_of` on other machines; it can hash patients, and seal nothing."""
        return cohort_key(self._store.key)

    def cohort_of(self, records: Records | Counted | Checked) -> Cohort:
        if isinstance(records, Counted | Checked):
            if records.unit == "patient" and records.people.counts.max(initial=0) > 1:  # one of each was chosen before
                raise FileError(CHANGED.format(source=records.source))
            return records.people
        return cohort_of(self.cohort_key, records.scores, records.patients, former=self._former(len(records)))

    def identify(self, n: int) -> Callable[[], Gathering]:
        """Tells whom batches of n records in all are of, on whichever machine reads them; its key seals nothing."""
        return partial(Gathering, self.cohort_key, whole=n > MOST, former=self._former(n))

    def _former(self, n: int) -> bool:
        """Whether so many records may be known by the name that data sets had before."""
        return n > MOST and any(map(is_former, self.snapshot().owners))

    def cohort_of_patients(self, patients: Sequence[str]) -> Cohort:
        """One entry per X-ray: whose it is."""
        return patients_only(self.cohort_key, patients)

    # Changing

    def open_account(
        self, name: str, budget: float | str | Decimal, *, actor: Actor | None = None, reason: str | None = None
    ) -> Account:
        """A name is taken once, however it is spelt; its budget can only be raised."""
        name, exact = _checked_name(name), amount(budget)
        because = _checked(actor, reason)
        with self._store.writing() as log:
            if found := snapshot_of(log.entries).account(name):
                raise LedgerError(
                    f"The data set '{found.name}' is in the ledger already; use it, or choose another name."
                )
            log.append("budget", {"account": name, "budget": str(exact), "time": now(), **because})
        return Account(name, exact, Decimal(0))

    def raise_budget(
        self, name: str, budget: float | str | Decimal, *, actor: Actor | None = None, reason: str | None = None
    ) -> Account:
        """Set a larger budget, for good and on record."""
        exact, because = amount(budget), _checked(actor, reason)
        with self._store.writing() as log:
            current = _account(snapshot_of(log.entries), name)
            if exact <= current.budget:
                raise LedgerError(f"The budget of '{current.name}' is {shown(current.budget)}; it can only be raised.")
            log.append("budget", {"account": current.name, "budget": str(exact), "time": now(), **because})
        return Account(current.name, exact, current.spent)

    def release(
        self,
        records: Records | Counted,
        plan: Plan,
        account: Account,
        *,
        request: str | None = None,
        actor: Actor | None = None,
        reason: str | None = None,
    ) -> Calibration:
        """Charge ε, then draw as planned.

        Over budget nothing is drawn; a crash in between wastes ε and never overspends it. A trivial plan is free. A new
        account is opened by its first charge. `request` identifies the user's click: repeating it returns the same
        release and charges nothing. `actor` and `reason` say who spends and why; they are kept and exported.
        """
        _check_payment(records, account)
        check_plan(records, plan)
        if plan.is_trivial:
            return release(records, plan, dataset=account.name)

        def draw(name: str) -> str:
            return release(records, plan, dataset=name).to_json()

        text = self.spend(
            records, plan.epsilon, account, draw, kind=CALIBRATION, request=request, actor=actor, reason=reason
        )
        return Calibration.from_json(text)

    def check(
        self,
        records: Records | Checked,
        calibration: Drawn,
        account: Account,
        epsilon: float,
        *,
        per: str | None = None,
        request: str | None = None,
        actor: Actor | None = None,
        reason: str | None = None,
    ) -> PrivateCheck:
        """Charge ε, then release how many of these patients the calibration's sets covered, all or per diagnosis."""
        _check_payment(records, account)
        epsilon = check_can_be_checked(records, calibration, epsilon, per)

        def draw(name: str) -> str:
            return private_check(records, calibration, epsilon, per=per, dataset=name).to_json()

        text = self.spend(records, epsilon, account, draw, kind=CHECK, request=request, actor=actor, reason=reason)
        return PrivateCheck.from_json(text)

    def spend(
        self,
        people: Records | Counted | Checked | Cohort,
        epsilon: float | Decimal,
        account: Account,
        draw: Callable[[str], str],
        *,
        kind: str,
        request: str | None = None,
        actor: Actor | None = None,
        reason: str | None = None,
    ) -> str:
        """Charge, draw, keep: what `draw`, given the account's name, returned, or what an earlier such request drew."""
        charged = self.charge(people, epsilon, account, kind=kind, request=request, actor=actor, reason=reason)
        if charged.result is not None:
            return charged.result
        text = draw(charged.account)
        self.keep_result(charged, text)
        return text

    def charge(
        self,
        people: Records | Counted | Checked | Cohort,
        epsilon: float | Decimal,
        account: Account,
        *,
        kind: str,
        delta: float = 0.0,
        request: str | None = None,
        actor: Actor | None = None,
        reason: str | None = None,
    ) -> Release:
        """The one place that spends: everyone of these people loses ε (and δ), on disk when it returns.

        A mechanism may draw from their records afterwards and never before. Where someone has no room nothing is
        charged, and that it was asked is kept. A request that was charged before is returned with its result.
        """
        _check_account(account)
        cohort = people if isinstance(people, Cohort) else self.cohort_of(people)
        price = price_of(cohort, amount(epsilon), delta)
        because, request = _checked(actor, reason), request or uuid.uuid4().hex
        with self._store.writing() as log:
            seen = snapshot_of(log.entries)
            if request in seen.requests:
                return _earlier(seen.requests[request])
            payer = seen.account(account.name) or (account if account.is_new else _unknown(account.name))
            check_open(seen, payer, price)
            body = {"account": payer.name, "kind": kind, "epsilon": str(price.epsilon), "time": now(), **because}
            if payer.is_new:
                log.append("budget", {"account": payer.name, "budget": str(payer.budget), "time": now(), **because})
            can_pay = has_room(log, seen, payer, cohort, price, self._identities(seen, people, cohort))
            if can_pay:
                _append_charge(log, seen, cohort, body | {"delta": str(price.delta), "request": request})
            else:
                log.append("refused", body | {"budget": str(payer.budget)})
        if not can_pay:
            raise no_room(payer, price, cohort)
        return snapshot_of(log.entries).releases[-1]

    def keep_result(self, charged: Release, text: str) -> None:
        """What was drawn for a charge, on disk before it is handed out."""
        with self._store.writing() as log:
            seen = snapshot_of(log.entries)
            if charged not in seen.releases:
                raise LedgerError("The ledger was replaced during a release. Nothing was released. Put it back.")
            log.append("result", {"charge": charged.id, "text": text})

    def _identities(self, seen: Snapshot, people: Records | Counted | Checked | Cohort, cohort: Cohort) -> list[str]:
        """By which the ledger may know the data set as a whole, if it knows any."""
        if not seen.owners:
            return []
        former = [version3.fingerprint(self._store.key, people.identity)] if isinstance(people, Records) else []
        return [*cohort.names, *former]


def _append_charge(log: Log, seen: Snapshot, cohort: Cohort, body: Mapping[str, object]) -> None:
    kept = None
    if cohort.counted_by != "data set":
        kept = log.keep_cohort(Kept.of(cohort))
    elif body["account"] not in seen.owners.get(cohort.name, ()):
        log.append("known", {"account": body["account"], "identity": cohort.name})
    number = max((one.id for one in seen.releases), default=0) + 1
    log.append("charge", {**body, "number": number, "counted_by": cohort.counted_by, "cohort": kept})


def _earlier(charged: Release) -> Release:
    if charged.result is None:
        raise LedgerError(
            f"This request, charged at {charged.time}, is being drawn or was interrupted. {LOOK} before asking again: "
            "another request costs ε anew."
        )
    return charged


def _account(seen: Snapshot, name: str) -> Account:
    return seen.account(name) or _unknown(name)


def _unknown(name: str) -> Account:
    raise LedgerError(f"The ledger has no data set '{name}'; give it a budget first. {LOOK}.")


def _check_payment(records: Records | Counted | Checked, account: Account) -> None:
    if not isinstance(records, Records | Counted | Checked):
        raise InputError("A release is made from records, as `read_scores` returns them, not from bare scores.")
    _check_account(account)
    check_binding(records.unit, records.model, account.name)
    check_names(records.classes, "The classes")  # what is paid for must be readable afterwards


def _check_account(account: object) -> None:
    if not isinstance(account, Account):
        raise LedgerError("A release needs an account to charge: `account_for` with a name and a budget gives one.")


def _checked_name(name: str) -> str:
    try:
        return check_name(clean_name(check_name(name.strip() if isinstance(name, str) else name)))
    except InputError:
        raise LedgerError("A data set's name must be 1 to 100 printable characters.") from None


def _checked(actor: Actor | None, reason: str | None) -> dict[str, str]:
    """Who and why, as they may be kept, shown and exported."""
    words = who_and_why(actor, reason.strip() or None if isinstance(reason, str) else reason)
    for word in words.values():
        if not isinstance(word, str) or len(word) > LONGEST_REASON or not word.isprintable():
            raise LedgerError(f"Who and why must be at most {LONGEST_REASON} printable characters on one line.")
    return words
