"""A ledger in one person's hands: who may charge, open and raise, what they see, and that it is on record."""

import json
import time
from dataclasses import replace

import numpy as np
import pytest

from ppsets_core import access, plan
from ppsets_core.access import CURATOR, STEWARD, VIEWER, Person
from ppsets_core.data.records import Records
from ppsets_core.errors import AccessError, LedgerError
from ppsets_core.ledger import Account, Actor, Ledger
from ppsets_core.ledger.export import export_csv, export_json
from ppsets_core.ledger.personal import PersonalLedger
from ppsets_core.ledger.training import TrainingPayment
from ppsets_core.reports.calibration import payer_of

ISSUER = "https://id.example"
PLAN = plan(200, 0.1, 1.0)
WHY = "the yearly audit"


def person(name: str, *roles: str, lasts: float = 60) -> Person:
    return Person(ISSUER, name, frozenset(roles), time.time() + lasts)


def records(seed: int = 0) -> Records:
    scores = np.random.default_rng(seed).uniform(0, 1, 200)
    return Records("ward.csv", scores)


@pytest.fixture
def ledger(tmp_path) -> Ledger:
    return Ledger(tmp_path / "ledger.sqlite")


def held(ledger: Ledger, who: Person) -> PersonalLedger:
    return PersonalLedger(ledger, lambda: who)


def opened(ledger: Ledger, name: str = "ward") -> Account:
    return held(ledger, person("stella", STEWARD)).open_account(name, 3, reason="a new cohort")


@pytest.mark.parametrize("roles", [(), (VIEWER,), (STEWARD,), (VIEWER, STEWARD)])
def test_only_a_curator_spends(ledger, roles):
    account = opened(ledger)
    with pytest.raises(AccessError, match="Only a curator"):
        held(ledger, person("vera", *roles)).release(records(), PLAN, account, reason=WHY)
    assert ledger.releases() == []
    assert held(ledger, person("carl", CURATOR)).release(records(), PLAN, account, reason=WHY).epsilon == 1
    assert [str(one.epsilon) for one in ledger.releases()] == ["1.0"]


def test_only_a_curator_pays_for_private_training_and_each_charge_pays_for_one(ledger):
    account, price = opened(ledger), (1.0, 1e-5)
    for who, why, told in (
        (person("vera", VIEWER), WHY, "Only a curator"),
        (person("carl", CURATOR, lasts=-1), WHY, "expired"),
        (person("carl", CURATOR), " ", "Say why"),
    ):
        with pytest.raises(AccessError, match=told):
            TrainingPayment(held(ledger, who), account, *price, reason=why).charge(["17", "18"])
    assert ledger.releases() == []
    carl = held(ledger, person("carl", CURATOR))
    payment = TrainingPayment(carl, carl.account_named("ward"), *price, request="a click", reason=WHY)
    with pytest.raises(LedgerError, match="not paid for"):
        payment.keep("weights")
    payment.charge(["17", "18", "18"])
    payment.keep("weights")
    assert [(one.kind, one.actor.subject, one.reason, one.status) for one in ledger.releases()] == [
        ("training", "carl", WHY, "released")
    ]
    assert json.loads(export_json(ledger))["releases"][0]["model"] == "weights"
    for again in (payment, TrainingPayment(carl, account, *price, request="a click", reason=WHY)):
        with pytest.raises(LedgerError, match="carried out before"):
            again.charge(["17", "18", "18"])
    assert len(ledger.releases()) == 1


@pytest.mark.parametrize("roles", [(), (VIEWER,), (CURATOR,)])
def test_only_a_steward_opens_and_raises(ledger, roles):
    account = opened(ledger)
    hands = held(ledger, person("carl", *roles))
    with pytest.raises(AccessError, match="Only a steward"):
        hands.open_account("another", 2, reason=WHY)
    with pytest.raises(AccessError, match="Only a steward"):
        hands.raise_budget(account.name, 9, reason=WHY)
    assert [(one.name, str(one.budget)) for one in ledger.accounts()] == [("ward", "3.0")]
    assert str(held(ledger, person("stella", STEWARD)).raise_budget("ward", 9, reason=WHY).budget) == "9.0"


def test_a_release_opens_no_account_for_a_curator(ledger):
    hands = held(ledger, person("carl", CURATOR))
    new = hands.account_for(records(), "ward", 2)
    with pytest.raises(AccessError, match="Ask a steward to open it"):
        hands.release(records(), PLAN, new, reason=WHY)
    assert ledger.accounts() == ()
    both = held(ledger, person("bea", CURATOR, STEWARD))
    both.release(records(), PLAN, new, reason=WHY)
    assert [one.name for one in ledger.accounts()] == ["ward"]


def test_who_it_is_is_asked_at_the_charge_and_why_whenever_something_changes(ledger):
    account, now = opened(ledger), [person("carl", CURATOR)]
    hands = PersonalLedger(ledger, lambda: now[0])
    for reason in (None, "", "  "):
        with pytest.raises(AccessError, match="Say why"):
            hands.release(records(), PLAN, account, reason=reason)
        with pytest.raises(AccessError, match="Say why"):
            held(ledger, person("stella", STEWARD)).raise_budget("ward", 9, reason=reason)
    assert ledger.releases() == []
    hands.release(records(), PLAN, account, reason=WHY)
    now[0] = person("carl", VIEWER)
    with pytest.raises(AccessError):
        hands.release(records(), PLAN, account, reason=WHY)


def test_a_log_in_that_expires_between_the_screen_and_the_charge_does_not_count(ledger, monkeypatch):
    account = opened(ledger)
    carl = held(ledger, person("carl", CURATOR, STEWARD, lasts=60))
    later = time.time() + 61
    monkeypatch.setattr(access.time, "time", lambda: later)
    for act in (
        lambda: carl.release(records(), PLAN, account, reason=WHY),
        lambda: carl.raise_budget("ward", 9, reason=WHY),
        lambda: carl.open_account("another", 2, reason=WHY),
    ):
        with pytest.raises(AccessError, match="expired"):
            act()
    assert ledger.releases() == []
    assert carl.accounts() == ()


def test_who_and_why_are_in_the_ledger_and_its_exports_and_cannot_be_given_by_the_caller(ledger):
    account = opened(ledger)
    forged = Actor(ISSUER, "someone else")
    held(ledger, person("carl", CURATOR)).release(records(), PLAN, account, reason=WHY, actor=forged)
    (release,) = ledger.releases()
    assert (release.actor, release.reason) == (Actor(ISSUER, "carl"), WHY)
    told = json.loads(export_json(ledger))
    assert [(one["issuer"], one["subject"], one["reason"]) for one in told["releases"]] == [(ISSUER, "carl", WHY)]
    assert [(one["subject"], one["reason"]) for one in told["budgets"]] == [("stella", "a new cohort")]
    assert f"{ISSUER},carl,{WHY}" in export_csv(ledger)


def test_a_report_tells_a_viewer_of_no_account_and_a_changed_release_is_known_to_everyone(ledger):
    released = held(ledger, person("carl", CURATOR)).release(records(), PLAN, opened(ledger), reason=WHY)
    carl, vera = held(ledger, person("carl", CURATOR)), held(ledger, person("vera", VIEWER))
    assert payer_of(released, carl).name == "ward"
    assert payer_of(released, vera) is None
    changed = replace(released, drawn=(1.0 if released.threshold < 1 else 0.5,))
    for one in (carl, vera):
        assert (one.knows(released), one.knows_otherwise(released)) == (True, False)
        assert (one.knows(changed), one.knows_otherwise(changed)) == (False, True)
    elsewhere = replace(released, dataset="another ward")
    assert (vera.knows(elsewhere), vera.knows_otherwise(elsewhere)) == (False, False)


def test_curators_see_their_own_and_a_steward_sees_all(ledger):
    held(ledger, person("carl", CURATOR)).release(records(1), PLAN, opened(ledger, "north"), reason=WHY)
    held(ledger, person("cora", CURATOR)).release(records(2), PLAN, opened(ledger, "south"), reason=WHY)
    carl, vera, stella = (
        held(ledger, one) for one in (person("carl", CURATOR), person("vera", VIEWER), person("stella", STEWARD))
    )
    assert [one.account for one in carl.releases()] == ["north"]
    assert [one.name for one in carl.accounts()] == ["north"]
    assert {one.account for one in carl.budget_changes()} == {"north"}
    assert "south" not in export_json(carl) + export_csv(carl)
    assert (vera.releases(), vera.accounts(), vera.budget_changes()) == ([], (), ())
    assert vera.account_for(records(1), "north") is None
    assert carl.account_for(records(1), "south").name == "south", "by its name, to charge it"
    assert [one.account for one in stella.releases()] == ["north", "south"]
    same_name = held(ledger, Person("https://other.example", "carl", frozenset({CURATOR}), time.time() + 60))
    assert same_name.releases() == []
