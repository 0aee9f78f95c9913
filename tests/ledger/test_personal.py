"""A ledger in one person's hands: who may charge, open, raise and publish, what they see, and what is on record."""

import json
import time
from dataclasses import replace

import numpy as np
import pytest

from ppsets_core import access, plan
from ppsets_core.access import CURATOR, ROLES, STEWARD, VIEWER, Person
from ppsets_core.errors import AccessError, LedgerError
from ppsets_core.ledger import Account, Actor, Ledger
from ppsets_core.ledger.export import export_csv, export_json
from ppsets_core.ledger.personal import PersonalLedger
from ppsets_core.ledger.training import TrainingPayment
from ppsets_core.reports.calibration import payer_of
from tests.ledger.spending import ISSUER, held_by, named, records_of, spend

SCORES = np.random.default_rng(0).random(300)
PLAN = plan(300, 0.1, 1.0)
WHY = "the yearly audit"


@pytest.fixture
def ledger(tmp_path) -> Ledger:
    ledger = Ledger(tmp_path / "ledger.sqlite")
    for name in ("north", "south"):
        held_by(ledger, "stella", STEWARD).open_account(name, 5, reason="a new cohort")
    return ledger


def release(hands: Ledger, account: str = "north", reason: str | None = WHY, **options):
    return hands.release(records_of(SCORES), PLAN, named(account), reason=reason, again=True, **options)


def released_by(hands: Ledger, account: str = "north"):
    release(hands, account)
    return hands.releases()[-1]


def on_shelf(ledger: Ledger) -> list[int]:
    return [one.release for one in ledger.published()]


ACTS = {
    "release": (CURATOR, lambda hands, why: release(hands, reason=why)),
    "train": (CURATOR, lambda hands, why: TrainingPayment(hands, named("north"), 1, 1e-5, reason=why).charge(["17"])),
    "publish": (CURATOR, lambda hands, why: hands.publish(Ledger(hands._store.path).releases()[0], reason=why)),
    "withdraw": (STEWARD, lambda hands, why: hands.withdraw(Ledger(hands._store.path).releases()[1], reason=why)),
    "open": (STEWARD, lambda hands, why: hands.open_account("another", 2, reason=why)),
    "raise": (STEWARD, lambda hands, why: hands.raise_budget("north", 9, reason=why)),
}


@pytest.mark.parametrize("act", ACTS)
def test_only_who_may_acts_now_and_says_why(ledger, act, monkeypatch):
    """Everyone else is refused and changes nothing; what is done is signed and on record."""
    (needed, carry_out), dora = ACTS[act], held_by(ledger, "dora", *ROLES)
    for _ in range(2):
        release(dora)
    dora.publish(dora.releases()[1], reason=WHY)
    before = export_json(ledger)
    for roles in ((), (VIEWER,), (CURATOR,), (STEWARD,)):
        if needed not in roles:
            with pytest.raises(AccessError, match=f"Only a {needed}"):
                carry_out(held_by(ledger, "vera", *roles), WHY)
    for nothing in (None, "", "  "):
        with pytest.raises(AccessError, match="Say why"):
            carry_out(dora, nothing)
    with monkeypatch.context() as later:
        then = time.time() + 61
        later.setattr(access.time, "time", lambda: then)
        with pytest.raises(AccessError, match="expired"):
            carry_out(dora, WHY)
    assert export_json(ledger) == before
    carry_out(dora, WHY)
    assert export_json(ledger).count('"subject": "dora"') == before.count('"subject": "dora"') + 1


def test_who_it_is_is_asked_at_the_charge_and_cannot_be_given_by_the_caller(ledger):
    now = [Person(ISSUER, "carl", frozenset({CURATOR}), time.time() + 60)]
    hands = PersonalLedger(ledger, lambda: now[0])
    release(hands, actor=Actor(ISSUER, "someone else"))
    assert [(one.actor, one.reason) for one in ledger.releases()] == [(Actor(ISSUER, "carl"), WHY)]
    assert f"{ISSUER},carl,{WHY}" in export_csv(ledger)
    now[0] = replace(now[0], roles=frozenset({VIEWER}))
    with pytest.raises(AccessError):
        release(hands)


def test_a_charge_pays_for_one_training(ledger):
    carl = held_by(ledger, "carl", CURATOR)
    given = (carl, carl.account_named("north"), 1.0, 1e-5)
    payment = TrainingPayment(*given, request="a click", reason=WHY)
    with pytest.raises(LedgerError, match="not paid for"):
        payment.keep("weights")
    payment.charge(["17", "18", "18"])
    payment.keep("weights")
    assert [(one.kind, one.actor.subject, one.status) for one in ledger.releases()] == [
        ("training", "carl", "released")
    ]
    assert json.loads(export_json(ledger))["releases"][0]["model"] == "weights"
    for again in (payment, TrainingPayment(*given, request="a click", reason=WHY)):
        with pytest.raises(LedgerError, match="carried out before"):
            again.charge(["17", "18", "18"])
    assert len(ledger.releases()) == 1


def test_a_release_opens_no_account_for_a_curator(ledger):
    new = Account("east", ledger.account("north").budget, ledger.account("north").spent, is_new=True)
    for roles, opens in (((CURATOR,), False), ((CURATOR, STEWARD), True)):
        hands = held_by(ledger, "bea", *roles)
        if opens:
            hands.release(records_of(SCORES), PLAN, new, reason=WHY)
        else:
            with pytest.raises(AccessError, match="Ask a steward to open it"):
                hands.release(records_of(SCORES), PLAN, new, reason=WHY)
        assert ("east" in ledger.account_names()) == opens


def test_a_report_tells_a_viewer_of_no_account_and_a_changed_release_is_known_to_everyone(ledger):
    carl, vera = held_by(ledger, "carl", CURATOR), held_by(ledger, "vera", VIEWER)
    released = release(carl)
    assert payer_of(released, carl).name == "north"
    assert payer_of(released, vera) is None
    changed = replace(released, drawn=(1.0 if released.threshold < 1 else 0.5,))
    for one in (carl, vera):
        assert (one.knows(released), one.knows_otherwise(released)) == (True, False)
        assert (one.knows(changed), one.knows_otherwise(changed)) == (False, True)
    elsewhere = replace(released, dataset="another ward")
    assert (vera.knows(elsewhere), vera.knows_otherwise(elsewhere)) == (False, False)


def test_curators_see_their_own_and_a_steward_sees_all(ledger):
    carl, cora = (held_by(ledger, name, CURATOR) for name in ("carl", "cora"))
    vera, stella = held_by(ledger, "vera", VIEWER), held_by(ledger, "stella", STEWARD)
    release(carl, "north"), release(cora, "south")
    assert [one.account for one in carl.releases()] == [one.name for one in carl.accounts()] == ["north"]
    assert {one.account for one in carl.snapshot().budget_changes} == {"north"}
    assert "south" not in export_json(carl) + export_csv(carl)
    assert (vera.releases(), vera.accounts(), vera.snapshot().budget_changes, vera.account_names()) == ([], (), (), [])
    assert vera.account_for(records_of(SCORES), "north") is None
    assert carl.account_for(records_of(SCORES), "south").name == "south", "by its name, to charge it"
    assert carl.account_names() == stella.account_names() == ["north", "south"]
    assert "more than ε = 1 through releases under 'south'" in carl.loss_in_words("south")
    with pytest.raises(LedgerError, match="no data set"):
        vera.loss_in_words("south")
    assert [one.account for one in stella.releases()] == ["north", "south"]
    stranger = Person("https://other.example", "carl", frozenset({CURATOR}), time.time() + 60)
    assert PersonalLedger(ledger, lambda: stranger).releases() == []
    assert held_by(ledger, "stella", STEWARD, lasts=-1).accounts() == ()


def test_a_viewer_sees_what_is_published_until_it_is_withdrawn_and_nothing_else(ledger):
    carl, cora = (held_by(ledger, name, CURATOR) for name in ("carl", "cora"))
    vera, stella = held_by(ledger, "vera", VIEWER), held_by(ledger, "stella", STEWARD)
    first, other = released_by(carl, "north"), released_by(cora, "south")
    assert on_shelf(vera) == []
    carl.publish(first, reason="for the ward")
    (seen,) = vera.published()
    assert (seen.release, seen.calibration) == (first.id, first.calibration)
    assert (vera.releases(), vera.snapshot().shelf_changes) == ([], ())
    told = export_json(vera) + export_csv(vera) + repr(seen)
    assert not any(word in told for word in ("south", "carl", "cora", "for the ward"))
    with pytest.raises(LedgerError, match="no release 2 that you may publish"):
        carl.publish(other, reason="not mine")
    cora.publish(other, reason="too")
    assert on_shelf(vera) == on_shelf(carl) == on_shelf(stella) == [other.id, first.id]
    assert [change.release for change in carl.snapshot().shelf_changes] == [first.id]
    stella.withdraw(seen, reason="another scanner")
    assert on_shelf(vera) == [other.id]
    carl.publish(first, reason="mended")
    assert on_shelf(Ledger(ledger._store.path)) == [first.id, other.id]
    assert held_by(ledger, "nobody").published() == held_by(ledger, "vera", VIEWER, lasts=-1).published() == []
    told = [(c["release"], c["change"], c["subject"], c["reason"]) for c in json.loads(export_json(stella))["shelf"]]
    assert told == [
        (first.id, "published", "carl", "for the ward"),
        (other.id, "published", "cora", "too"),
        (first.id, "withdrawn", "stella", "another scanner"),
        (first.id, "published", "carl", "mended"),
    ]


def test_only_a_drawn_calibration_is_published_and_once(ledger):
    spend(ledger, 1.0, SCORES, "north")
    charged = ledger.charge(ledger.cohort_of_patients(["17"]), 1, named("north"), kind="training")
    released = ledger.releases()[0]
    for act, given, told in (
        (ledger.publish, charged, "no calibration to publish"),
        (ledger.withdraw, released, "not on the shelf"),
    ):
        with pytest.raises(LedgerError, match=told):
            act(given)
    ledger.publish(released)
    with pytest.raises(LedgerError, match="already on the shelf"):
        ledger.publish(released)
    assert on_shelf(ledger) == [1]
