"""A ledger in the hands of one person who is logged in: each charge and change is checked and signed as it is made."""

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal

from ppsets_core.access import CURATOR, STEWARD, Person
from ppsets_core.data.checked import Checked
from ppsets_core.data.counting import Counted
from ppsets_core.data.records import Records
from ppsets_core.errors import AccessError
from ppsets_core.ledger.accounts import Account, Actor, Release, Snapshot
from ppsets_core.ledger.cohort import Cohort, Gathering
from ppsets_core.ledger.ledger import Ledger
from ppsets_core.method.calibration import Calibration


class PersonalLedger(Ledger):
    """The same file for everyone; `person` is asked anew at each call, so that no screen need be trusted.

    A steward sees all of it, others their own charges and the accounts these were made to. An account is found by its
    name: whoever is to charge it was told the name by the steward who opened it.
    """

    def __init__(self, ledger: Ledger, person: Callable[[], Person]) -> None:
        self._ledger, self._person, self._store = ledger, person, ledger._store

    # Looking

    def snapshot(self) -> Snapshot:
        whole, person = self._ledger.snapshot(), self._person()
        return whole if person.has(STEWARD) and not person.is_expired() else _own(whole, _actor(person))

    def account(self, name: str) -> Account:
        return self._ledger.account(name) if self._charges() else super().account(name)

    def account_named(self, name: str, budget: float | str | Decimal | None = None) -> Account | None:
        return self._ledger.account_named(name, budget) if self._charges() else super().account_named(name, budget)

    def _calibrations(self) -> list[Calibration]:
        """Everyone's: whoever has a release may know whether it was changed."""
        return self._ledger._calibrations()

    def identify(self, n: int) -> Callable[[], Gathering]:
        return self._ledger.identify(n)

    def _charges(self) -> bool:
        """Whether this person has to do with accounts; to others the ledger does not tell which there are."""
        person = self._person()
        return person.has(CURATOR) or person.has(STEWARD)

    # Changing

    def open_account(
        self, name: str, budget: float | str | Decimal, *, actor: Actor | None = None, reason: str | None = None
    ) -> Account:
        signed = self._signed(STEWARD, reason)
        return self._ledger.open_account(name, budget, actor=signed, reason=reason)

    def raise_budget(
        self, name: str, budget: float | str | Decimal, *, actor: Actor | None = None, reason: str | None = None
    ) -> Account:
        signed = self._signed(STEWARD, reason)
        return self._ledger.raise_budget(name, budget, actor=signed, reason=reason)

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
        """As any charge, for a curator; whoever charges an account that is not there yet must be a steward, too."""
        signed = self._signed(CURATOR, reason)
        if account.is_new and not self._person().has(STEWARD):
            raise AccessError(f"'{account.name}' is not in the ledger. Ask a steward to open it. Nothing was charged.")
        return self._ledger.charge(
            *(people, epsilon, account), kind=kind, delta=delta, request=request, actor=signed, reason=reason
        )

    def _signed(self, role: str, reason: str | None) -> Actor:
        """Who it is, with that role, now, and not without a reason."""
        person = self._person()
        person.check(role)
        if not (reason or "").strip():
            raise AccessError("Say why: the reason is kept in the ledger, with your name. Nothing was changed.")
        return _actor(person)


def _actor(person: Person) -> Actor:
    return Actor(person.issuer, person.subject)


def _own(whole: Snapshot, me: Actor) -> Snapshot:
    """What one person has charged, and the accounts these charges were made to."""
    releases = tuple(one for one in whole.releases if one.actor == me)
    names = {one.account for one in releases}
    return replace(
        whole,
        accounts=tuple(one for one in whole.accounts if one.name in names),
        releases=releases,
        budget_changes=tuple(one for one in whole.budget_changes if one.account in names),
        refusals=tuple(one for one in whole.refusals if one.actor == me),
        requests={},
        cohorts={},
        owners={},
    )
