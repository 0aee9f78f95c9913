"""The content of a ledger: accounts, releases, budget changes and refusals, read from its entries."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

from ppsets_core.files.names import same_name
from ppsets_core.ledger.amounts import MOST_DELTA, Price, amount, difference, shown, total
from ppsets_core.ledger.store import Entry
from ppsets_core.method.calibration import Calibration
from ppsets_core.method.private_check import CHECK, PrivateCheck

CALIBRATION, TRAINING = "calibration", "training"
PUBLISHED, WITHDRAWN = "published", "withdrawn"


@dataclass(frozen=True)
class Actor:
    """Who spends or raises a budget, as a log-in tells it: who says so (an OpenID provider), and whom it means."""

    issuer: str
    subject: str


@dataclass(frozen=True)
class Account:
    """A budget, and what all releases under its name have cost together. A new one is not in the ledger yet: its first
    release opens it.

    `spent` adds up all releases, of all patients, and `left` is the rest. Only a charge tells whether everyone in a
    release has room.
    """

    name: str
    budget: Decimal
    spent: Decimal
    is_new: bool = False

    @property
    def left(self) -> Decimal:
        return max(difference(self.budget, self.spent), Decimal(0))

    def can_pay(self, epsilon: float) -> bool:
        """Whether its budget allows this ε to anyone at all."""
        return amount(epsilon) <= self.budget


@dataclass(frozen=True, kw_only=True)
class Event:
    """When something happened, by whom and why."""

    time: str
    actor: Actor | None = None
    reason: str | None = None


@dataclass(frozen=True)
class Release(Event):
    """One charge. Without a result it is being drawn, or was interrupted: spent, and not released.

    `kind`: what was drawn, a calibration, a check or a training. `counted_by`: "patient" if it counts for the patients
    it names, "account" if it names none and counts for everyone in the account.
    """

    id: int
    account: str
    epsilon: Decimal
    kind: str = CALIBRATION
    delta: Decimal = Decimal(0)
    counted_by: str = "account"
    result: str | None = None

    @cached_property
    def calibration(self) -> Calibration | None:
        return Calibration.from_json(self.result) if self.kind == CALIBRATION and self.result is not None else None

    @cached_property
    def check(self) -> PrivateCheck | None:
        return PrivateCheck.from_json(self.result) if self.kind == CHECK and self.result is not None else None

    @cached_property
    def trained(self) -> str | None:
        """The fingerprint of the weights that a training made, drawn by chance as any model's is."""
        return json.loads(self.result)["model"] if self.kind == TRAINING and self.result is not None else None

    @property
    def facts(self) -> tuple[object, ...] | None:
        """The public facts of what was drawn, by which an identical release is recognised."""
        if (drawn := self.calibration) is not None:
            return (drawn.plan, drawn.classes, drawn.score, drawn.model, drawn.unit)
        if (check := self.check) is not None:
            return (check.n, check.epsilon, check.per, check.checked, check.model, check.unit)
        return None

    @property
    def is_once_each(self) -> bool:
        """Whether it is known to use one record of each person, so that nobody loses more than its ε."""
        drawn = self.calibration or self.check
        return self.counted_by == "account" or (drawn is not None and drawn.unit == "patient")

    @property
    def status(self) -> str:
        return "charged, not released" if self.result is None else "released"


@dataclass(frozen=True)
class BudgetChange(Event):
    """A budget as it was set or raised."""

    account: str
    budget: Decimal


@dataclass(frozen=True)
class Refusal(Event):
    """A release that was asked for and refused because someone had no room for it within the budget of that time."""

    account: str
    budget: Decimal
    epsilon: Decimal
    kind: str


@dataclass(frozen=True)
class ShelfChange(Event):
    """A release put on the shelf (`kind` "published") or taken off it ("withdrawn"); `release` is its number."""

    kind: str
    release: int


@dataclass(frozen=True)
class Published:
    """A calibration on the shelf: all that a viewer sees of a ledger. `release` is its number."""

    release: int
    time: str
    calibration: Calibration


@dataclass(frozen=True)
class Snapshot:
    """A whole ledger at one moment."""

    accounts: tuple[Account, ...]
    releases: tuple[Release, ...]
    budget_changes: tuple[BudgetChange, ...]
    refusals: tuple[Refusal, ...]
    shelf_changes: tuple[ShelfChange, ...]
    requests: Mapping[str, Release]
    charges: Mapping[int | None, Sequence[Release]]  # by the number of the cohort; None: those that name nobody

    def account(self, name: str) -> Account | None:
        """The account of that name, however it is spelt."""
        same = same_name(name)
        alike = [account for account in self.accounts if same_name(account.name) == same]
        return next((account for account in alike if account.name == name), alike[0] if alike else None)

    def most_lost(self, account: Account) -> Price:
        """A bound on what anyone has lost through releases under this name, from public numbers alone."""
        releases = [one for one in self.releases if one.account == account.name]
        delta = total(one.delta for one in releases)
        if all(one.is_once_each for one in releases):
            return Price(min(account.spent, account.budget), min(delta, MOST_DELTA))
        return Price(account.budget, MOST_DELTA if delta else delta)

    def loss_in_words(self, account: Account) -> str:
        most = self.most_lost(account)
        lost = f"more than ε = {shown(most.epsilon)}" if most.epsilon else "anything"
        delta = f" with δ = {shown(most.delta)}" if most.delta else ""
        whom = "; where records name no patient, this holds for each record" if most.epsilon else ""
        return (
            f"No one has lost {lost}{delta} through releases under '{account.name}'{whom}. "
            f"Its budget is {shown(account.budget)}: a release that would exceed it is refused."
        )

    def published(self) -> list[Published]:
        """What is on the shelf, newest first."""
        drawn, shelf = {release.id: release.calibration for release in self.releases}, dict[int, Published]()
        for change in self.shelf_changes:
            shelf.pop(change.release, None)
            if change.kind == PUBLISHED and (calibration := drawn.get(change.release)) is not None:
                shelf[change.release] = Published(change.release, change.time, calibration)
        return list(shelf.values())[::-1]


def snapshot_of(entries: Iterable[Entry]) -> Snapshot:
    found: dict[str, list[dict[str, Any]]] = {kind: [] for kind in ("budget", "charge", "result", "refused", "shelf")}
    for entry in entries:
        kind = "shelf" if entry.kind in (PUBLISHED, WITHDRAWN) else entry.kind
        found.setdefault(kind, []).append({"kind": entry.kind, **entry.body})
    changes = tuple(BudgetChange(b["account"], Decimal(b["budget"]), **_signed(b)) for b in found["budget"])
    results = {body["charge"]: body["text"] for body in found["result"]}
    releases = [_release(body, results.get(body["number"])) for body in found["charge"]]
    charges: dict[int | None, list[Release]] = {}
    for body, release in zip(found["charge"], releases, strict=True):
        charges.setdefault(body["cohort"], []).append(release)
    return Snapshot(
        tuple(
            Account(name, budget, total(one.epsilon for one in releases if one.account == name))
            for name, budget in {change.account: change.budget for change in changes}.items()
        ),
        tuple(releases),
        changes,
        tuple(
            Refusal(b["account"], Decimal(b["budget"]), Decimal(b["epsilon"]), kind=b["kind"], **_signed(b))
            for b in found["refused"]
        ),
        tuple(ShelfChange(body["kind"], body["release"], **_signed(body)) for body in found["shelf"]),
        {b["request"]: release for b, release in zip(found["charge"], releases, strict=True) if b["request"]},
        charges,
    )


def who_and_why(actor: Actor | None, reason: str | None) -> dict[str, str]:
    """As `_signed` reads it again; nothing where nobody says."""
    who = {} if actor is None else {"issuer": actor.issuer, "subject": actor.subject}
    return who | ({} if reason is None else {"reason": reason})


def _release(body: dict[str, Any], result: str | None) -> Release:
    epsilon, delta = Decimal(body["epsilon"]), Decimal(body["delta"])
    counted_by = "patient" if body["counted_by"] == "patient" else "account"  # others: one version back
    return Release(body["number"], body["account"], epsilon, body["kind"], delta, counted_by, result, **_signed(body))


def _signed(body: dict[str, Any]) -> dict[str, Any]:
    actor = Actor(body["issuer"], body["subject"]) if "issuer" in body else None
    return {"time": body["time"], "actor": actor, "reason": body.get("reason")}
