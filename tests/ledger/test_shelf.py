"""The shelf: a curator publishes a released calibration, a steward withdraws it, and viewers see nothing else."""

import json
import time

import numpy as np
import pytest

from ppsets_core import AccessError, Ledger, LedgerError, plan
from ppsets_core.access import CURATOR, ROLES, STEWARD, VIEWER, Person
from ppsets_core.ledger.export import export_csv, export_json
from ppsets_core.ledger.personal import PersonalLedger
from tests.ledger.spending import named, records_of, spend

SCORES = np.random.default_rng(0).random(300)


@pytest.fixture
def ledger(tmp_path):
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.open_account("north", 5)
    ledger.open_account("south", 5)
    return ledger


def held_by(ledger: Ledger, name: str, *roles: str, lasts: float = 60) -> PersonalLedger:
    person = Person("https://login.example", name, frozenset(roles), time.time() + lasts)
    return PersonalLedger(ledger, lambda: person)


def released_by(hands: Ledger, account: str):
    hands.release(records_of(SCORES), plan(len(SCORES), 0.1, 1.0), named(account), reason="a model")
    return hands.releases()[-1]


def on_shelf(ledger: Ledger) -> list[int]:
    return [one.release for one in ledger.published()]


def test_a_viewer_sees_what_is_published_until_it_is_withdrawn_and_nothing_else(ledger):
    carl, cora = (held_by(ledger, name, CURATOR) for name in ("carl", "cora"))
    vera, stella = held_by(ledger, "vera", VIEWER), held_by(ledger, "stella", STEWARD)
    first, other = released_by(carl, "north"), released_by(cora, "south")
    assert on_shelf(vera) == []
    carl.publish(first, reason="for the ward")
    (seen,) = vera.published()
    assert (seen.release, seen.calibration) == (first.id, first.calibration)
    assert (vera.releases(), vera.accounts(), vera.account_names(), vera.snapshot().shelf_changes) == ([], (), [], ())
    told = export_json(vera) + export_csv(vera) + repr(seen)
    assert not any(word in told for word in ("south", "carl", "cora", "for the ward"))
    cora.publish(other, reason="too")
    assert on_shelf(vera) == on_shelf(carl) == on_shelf(stella) == [other.id, first.id]
    assert [change.release for change in carl.snapshot().shelf_changes] == [first.id]
    stella.withdraw(seen, reason="another scanner")
    assert on_shelf(vera) == [other.id]
    carl.publish(first, reason="mended")
    assert on_shelf(Ledger(ledger._store.path)) == [first.id, other.id]
    told = [(c["release"], c["change"], c["subject"], c["reason"]) for c in json.loads(export_json(stella))["shelf"]]
    assert told == [
        (first.id, "published", "carl", "for the ward"),
        (other.id, "published", "cora", "too"),
        (first.id, "withdrawn", "stella", "another scanner"),
        (first.id, "published", "carl", "mended"),
    ]


def test_who_may_not_does_not(ledger):
    carl, everyone = held_by(ledger, "carl", CURATOR), held_by(ledger, "dora", *ROLES)
    mine, theirs = released_by(carl, "north"), released_by(everyone, "south")
    for hands, release, why in (
        (held_by(ledger, "vera", VIEWER), mine, "Only a curator"),
        (held_by(ledger, "stella", STEWARD), mine, "Only a curator"),
        (held_by(ledger, "carl", CURATOR, lasts=-1), mine, "expired"),
        (carl, theirs, "no release 2 that you may publish"),
    ):
        with pytest.raises((AccessError, LedgerError), match=why):
            hands.publish(release, reason="so")
    with pytest.raises(AccessError, match="Say why"):
        carl.publish(mine)
    everyone.publish(mine, reason="so")
    for hands, why in ((carl, "Only a steward"), (held_by(ledger, "vera", VIEWER), "Only a steward")):
        with pytest.raises(AccessError, match=why):
            hands.withdraw(mine, reason="so")
    assert on_shelf(ledger) == [mine.id]
    for hands in (held_by(ledger, "nobody"), held_by(ledger, "vera", VIEWER, lasts=-1)):
        assert hands.published() == []
    assert carl.account_names() == everyone.account_names() == ["north", "south"]
    assert held_by(ledger, "nobody").account_names() == []


def test_only_a_drawn_calibration_is_published_and_once(ledger):
    spend(ledger, 1.0, SCORES, "north")
    charged = ledger.charge(ledger.cohort_of_patients(["17"]), 1, named("north"), kind="training")
    released = ledger.releases()[0]
    with pytest.raises(LedgerError, match="no calibration to publish"):
        ledger.publish(charged)
    with pytest.raises(LedgerError, match="not on the shelf"):
        ledger.withdraw(released)
    ledger.publish(released)
    with pytest.raises(LedgerError, match="already on the shelf"):
        ledger.publish(released)
    assert on_shelf(ledger) == [1]
