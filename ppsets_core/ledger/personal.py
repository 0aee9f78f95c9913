"""The ledger of a person who is logged in: each charge and change is checked and signed when it is made."""

from collections.abc import Callable
from dataclasses import replace

from ppsets_core.access import CURATOR, STEWARD, VIEWER, Person
from ppsets_core.errors import AccessError
from ppsets_core.ledger.accounts import Account, Actor, Published, Snapshot
from ppsets_core.ledger.ledger import By, Ledger
from ppsets_core.method.calibration import Calibration


class PersonalLedger(Ledger):
    """One file for everyone; `person` is called at every charge and change, so no screen need be trusted.

    A steward sees everything, others their own charges and the accounts that paid. Curators know the names of all
    accounts, to charge them, and publish their own releases. Every role sees the shelf.
    """

    def __init__(self, ledger: Ledger, person: Callable[[], Person]) -> None:
        self._ledger, self._person, self._store = ledger, person, ledger._store

    # Looking

    def snapshot(self) -> Snapshot:
        whole, person = self._ledger.snapshot(), self._person()
        return whole if person.has(STEWARD) and not person.is_expired() else _own(whole, _actor(person))

    def _payers(self) -> Snapshot:
        person = self._person()
        return self._ledger.snapshot() if person.has(CURATOR) or person.has(STEWARD) else self.snapshot()

    def loss_in_words(self, account: str) -> str:
        return self._ledger.loss_in_words(self.account(account).name)

    def published(self) -> list[Published]:
        person = self._person()
        return self._ledger.published() if person.has(VIEWER) and not person.is_expired() else []

    def _calibrations(self) -> list[Calibration]:
        """Everyone's: anyone with a release may know whether it was changed."""
        return self._ledger._calibrations()

    # Changing

    def _sign(self, role: str, by: By) -> dict[str, str]:
        """Who it is, with that role, now, and never without a reason. Who the caller says it is does not count."""
        person = self._person()
        person.check(role)
        if not (by.get("reason") or "").strip():
            raise AccessError("Say why: the reason is kept in the ledger, with your name. Nothing was changed.")
        return super()._sign(role, {"actor": _actor(person), "reason": by["reason"]})

    def _check_opening(self, account: Account) -> None:
        if account.is_new and not self._person().has(STEWARD):
            raise AccessError(f"'{account.name}' is not in the ledger. Ask a steward to open it. Nothing was charged.")


def _actor(person: Person) -> Actor:
    return Actor(person.issuer, person.subject)


def _own(whole: Snapshot, me: Actor) -> Snapshot:
    """What one person has charged, and the accounts that paid."""
    releases = tuple(one for one in whole.releases if one.actor == me)
    names = {one.account for one in releases}
    return replace(
        whole,
        accounts=tuple(one for one in whole.accounts if one.name in names),
        releases=releases,
        budget_changes=tuple(one for one in whole.budget_changes if one.account in names),
        refusals=tuple(one for one in whole.refusals if one.actor == me),
        shelf_changes=tuple(one for one in whole.shelf_changes if one.release in {mine.id for mine in releases}),
        requests={key: one for key, one in whole.requests.items() if one.actor == me},
        charges={},
    )
