"""Who may do what where people log in: one place decides, and the ledger asks it at the moment of a charge.

Knows claims, as any OpenID Connect provider makes them, and no provider or web framework.
"""

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ppsets_core.errors import AccessError, InputError

VIEWER, CURATOR, STEWARD = "viewer", "curator", "steward"
ROLES = (VIEWER, CURATOR, STEWARD)
MAY = {
    VIEWER: "see this",
    CURATOR: "read records, spend or publish",
    STEWARD: "open accounts, raise budgets, withdraw releases or see the whole ledger",
}
"""What each role is for; every role may do what a viewer may, and a person may have several."""
LONGEST = 255


@dataclass(frozen=True)
class Person:
    """Who is logged in, as their provider says, until when, and with which roles."""

    issuer: str
    subject: str
    roles: frozenset[str]
    expires: float

    def has(self, role: str) -> bool:
        return bool(self.roles) if role == VIEWER else role in self.roles

    def is_expired(self) -> bool:
        return self.seconds_left <= 0

    @property
    def seconds_left(self) -> float:
        return self.expires - time.time()

    def check(self, role: str) -> None:
        """Now: an hour ago does not count."""
        if self.is_expired():
            raise AccessError("Your log-in has expired. Log in again. Nothing was charged or changed.")
        if not self.has(role):
            raise AccessError(f"Only a {role} may {MAY[role]} here. Nothing was charged or changed.")


@dataclass(frozen=True)
class RoleRules:
    """Which values of a claim give which roles; without rules nobody has any."""

    claim: str
    values: Mapping[str, frozenset[str]]

    @classmethod
    def of(cls, section: Mapping[str, object]) -> "RoleRules":
        """From the configuration: `claim`, and for each role the values of it that give this role."""
        unknown = set(section) - {"claim", *ROLES}
        if unknown:
            raise InputError(f"[roles] has no '{sorted(unknown)[0]}': it names a claim and {', '.join(ROLES)}.")
        claim = section.get("claim", "groups")
        if not isinstance(claim, str) or not claim:
            raise InputError("[roles] must name a claim, say: claim = 'groups'.")
        return cls(claim, {role: frozenset(_words(section.get(role, ()), f"[roles] {role}")) for role in ROLES})

    def is_claimed(self, claims: Mapping[str, object]) -> bool:
        """Whether a token carries the claim at all: else its name here, or the provider's mapping, is wrong."""
        return bool(_claimed(claims, self.claim))

    def person(self, claims: Mapping[str, object]) -> Person:
        """The person of these claims. A token that does not say who, or until when, is no log-in."""
        issuer, subject, expires = (claims.get(name) for name in ("iss", "sub", "exp"))
        if not all(isinstance(word, str) and 0 < len(word) <= LONGEST for word in (issuer, subject)):
            raise AccessError("The log-in does not say who you are (iss, sub). Ask whoever runs this server.")
        if isinstance(expires, bool) or not isinstance(expires, int | float) or not math.isfinite(expires):
            raise AccessError("The log-in does not say until when it holds (exp). Ask whoever runs this server.")
        given = set(_claimed(claims, self.claim))
        roles = frozenset(role for role, values in self.values.items() if given & values)
        return Person(str(issuer), str(subject), roles, float(expires))


def _words(value: object, where: str) -> Sequence[str]:
    if isinstance(value, str):
        return [value] if value else []
    if isinstance(value, Sequence) and all(isinstance(word, str) and word for word in value):
        return list(value)
    raise InputError(f"{where} must be a list of texts.")


def _claimed(claims: Mapping[str, object], name: str) -> list[str]:
    """What a claim holds, as texts; dots lead into claims within claims, and what is no text counts for nothing."""
    found: object = claims.get(name)
    if found is None and "." in name:
        first, _, rest = name.partition(".")
        inner = claims.get(first)
        return _claimed(inner, rest) if isinstance(inner, Mapping) else []
    if isinstance(found, str):
        return [found]
    return [word for word in found if isinstance(word, str)] if isinstance(found, list | tuple) else []
