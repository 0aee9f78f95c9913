"""A ledger's entries, read as what they say."""

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from ppsets_core.ledger.accounts import Account, Actor, BudgetChange, Refusal, Release, Snapshot
from ppsets_core.ledger.amounts import total
from ppsets_core.ledger.seal import Entry


def snapshot_of(entries: Iterable[Entry]) -> Snapshot:
    found: dict[str, list[dict[str, Any]]] = {kind: [] for kind in ("budget", "charge", "result", "refused", "known")}
    for entry in entries:
        found.setdefault(entry.kind, []).append(entry.body)
    changes = tuple(
        BudgetChange(b["account"], Decimal(b["budget"]), b["time"], _actor(b), b.get("reason")) for b in found["budget"]
    )
    results = {body["charge"]: body["text"] for body in found["result"]}
    releases = tuple(_release(body, results.get(body["number"])) for body in found["charge"])
    refusals = tuple(_refusal(body) for body in found["refused"])
    return Snapshot(
        _accounts(changes, releases),
        releases,
        changes,
        refusals,
        {b["request"]: release for b, release in zip(found["charge"], releases, strict=True) if b["request"]},
        {body["number"]: body["cohort"] for body in found["charge"]},
        _owners(found["known"]),
    )


def _owners(known: Iterable[dict[str, Any]]) -> dict[str, set[str]]:
    owners: dict[str, set[str]] = {}
    for body in known:
        owners.setdefault(body["identity"], set()).add(body["account"])
    return owners


def who_and_why(actor: Actor | None, reason: str | None) -> dict[str, str]:
    """As `_actor` reads it again; nothing where nobody says."""
    who = {} if actor is None else {"issuer": actor.issuer, "subject": actor.subject}
    return who | ({} if reason is None else {"reason": reason})


def _accounts(changes: Iterable[BudgetChange], releases: Iterable[Release]) -> tuple[Account, ...]:
    budgets = {change.account: change.budget for change in changes}
    spent: dict[str, list[Decimal]] = {name: [] for name in budgets}
    for release in releases:
        spent[release.account].append(release.epsilon)
    return tuple(Account(name, budget, total(spent[name])) for name, budget in budgets.items())


def _release(body: dict[str, Any], result: str | None) -> Release:
    return Release(
        id=body["number"],
        account=body["account"],
        epsilon=Decimal(body["epsilon"]),
        time=body["time"],
        kind=body["kind"],
        delta=Decimal(body["delta"]),
        counted_by=body["counted_by"],
        actor=_actor(body),
        reason=body.get("reason"),
        result=result,
    )


def _refusal(body: dict[str, Any]) -> Refusal:
    budget, epsilon = Decimal(body["budget"]), Decimal(body["epsilon"])
    return Refusal(body["account"], budget, epsilon, body["time"], body["kind"], _actor(body), body.get("reason"))


def _actor(body: dict[str, Any]) -> Actor | None:
    return Actor(body["issuer"], body["subject"]) if "issuer" in body else None
