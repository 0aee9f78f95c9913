"""Roles from claims: nobody by default, never by a likeness, and no longer than the token holds."""

import time

import pytest

from ppsets_core import access
from ppsets_core.access import CURATOR, STEWARD, VIEWER, RoleRules
from ppsets_core.errors import AccessError

RULES = RoleRules.of({"claim": "groups", "viewer": ["readers"], "curator": ["data"], "steward": ["office", "chief"]})
WHO = {"iss": "https://id.example", "sub": "17"}


def person(groups: object, lasts: float = 60, rules: RoleRules = RULES, **claims: object):
    return rules.person({**WHO, "exp": time.time() + lasts, "groups": groups, **claims})


@pytest.mark.parametrize(
    ("groups", "roles"),
    [
        (["readers"], {VIEWER}),
        ("data", {CURATOR}),
        (["chief", "data", "choir"], {CURATOR, STEWARD}),
        (["Data"], set()),
        (["data "], set()),
        ("readers data", set()),
        ([["data"]], set()),
        ({"data": True}, set()),
        ([None, 1, True], set()),
        (None, set()),
        ([], set()),
    ],
)
def test_roles_come_from_the_claim_letter_for_letter(groups, roles):
    assert person(groups).roles == roles


@pytest.mark.parametrize("rules", [{}, {"curator": "", "steward": []}])
def test_without_rules_nobody_has_a_role(rules):
    nobody = RoleRules.of(rules)
    for groups in (["viewer"], ["curator"], ["steward"], "", [""]):
        assert person(groups, rules=nobody).roles == frozenset()


def test_a_claim_within_a_claim():
    rules = RoleRules.of({"claim": "realm_access.roles", "curator": ["data"]})
    assert person(None, rules=rules, realm_access={"roles": ["data"]}).roles == {CURATOR}
    assert person(None, rules=rules, realm_access="data").roles == frozenset()
    assert person(None, rules=rules, **{"realm_access.roles": ["data"]}).roles == {CURATOR}


def test_each_role_may_what_it_is_for_and_what_a_viewer_may():
    for groups, allowed in (("readers", {VIEWER}), ("data", {VIEWER, CURATOR}), ("chief", {VIEWER, STEWARD})):
        for role in access.ROLES:
            if role in allowed:
                person(groups).check(role)
            else:
                with pytest.raises(AccessError, match=f"Only a {role} may"):
                    person(groups).check(role)
    with pytest.raises(AccessError):
        person([]).check(VIEWER)


@pytest.mark.parametrize(
    ("claim", "values"),
    [
        ("iss", [None, "", True, [], "x" * 256]),
        ("sub", [None, "", True, [], "x" * 256]),
        ("exp", [None, "", True, [], "never", float("nan"), float("inf")]),
    ],
)
def test_a_token_that_does_not_say_who_or_until_when_is_no_log_in(claim, values):
    for value in values:
        with pytest.raises(AccessError, match="until when" if claim == "exp" else None):
            RULES.person({**WHO, "exp": time.time() + 60, "groups": ["data"], claim: value})
