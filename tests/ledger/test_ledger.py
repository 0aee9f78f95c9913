"""The ledger: budgets, requests, exact sums, history, export, and what its files reveal."""

import csv
import dataclasses
import hashlib
import io
import json
import os
import sqlite3
import unicodedata
from decimal import Decimal
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import ppsets_core.ledger.ledger as ledger_module
from ppsets_core import Actor, BudgetError, Calibration, InputError, Ledger, LedgerError, calibrate
from ppsets_core.access import CURATOR
from ppsets_core.errors import RepeatError
from ppsets_core.ledger.export import export_csv, export_json
from ppsets_core.method.calibration_json import LONGEST
from ppsets_core.scores import OWN
from ppsets_core.validation import MOST_NAMES
from tests.ledger import spending
from tests.ledger.spending import held_by, named, planned, records_of

SCORES = np.random.default_rng(0).random(2000)
PATIENTS = np.array([f"patient {i}" for i in range(2000)])


@pytest.fixture
def path(tmp_path):
    return tmp_path / "home" / "ledger.sqlite"


@pytest.fixture
def ledger(path):
    ledger = Ledger(path)
    ledger.open_account("ward", 1)
    return ledger


def spend(ledger, epsilon=0.5, scores=SCORES, name="ward", **options):
    return spending.spend(ledger, epsilon, scores, name, **options)


def test_what_cannot_be_released_is_refused_before_anything_is_charged(ledger):
    for records, chosen, account, told in (
        (records_of(SCORES), planned(SCORES[1:], 0.5), named("ward"), "plan is for 1999 records but there are 2000"),
        (SCORES, planned(SCORES, 0.5), named("ward"), "A release is made from records"),
        (records_of(SCORES), planned(SCORES, 0.5), None, "account_for"),
        (records_of(SCORES), planned(SCORES, 0.5), "ward", "account_for"),
        (records_of(SCORES), planned(SCORES, 0.5), named("nowhere"), "no data set 'nowhere'"),
    ):
        with pytest.raises((InputError, LedgerError), match=told):
            ledger.release(records, chosen, account)
    assert (ledger.account("ward").spent, ledger.releases()) == (0, [])


def test_as_many_names_as_there_may_be_are_short_enough_to_be_read_again():
    classes = tuple(f"{number:05d}{'é' * 95}" for number in range(200))
    scores = np.linspace(0, 1, 400)
    found = calibrate(records_of(scores, classes=classes, labels=np.arange(400) % 200), 0.1, 5.0, per="diagnosis")
    assert Calibration.from_json(found.to_json()) == found
    assert len(found.to_json()) * MOST_NAMES / 200 < LONGEST


def test_a_request_is_charged_once_also_while_it_is_being_drawn(ledger, monkeypatch):
    draw = ledger_module.release

    def second_click(*args, **options):
        with pytest.raises(LedgerError, match=r"being drawn or was interrupted.*`ppsets ledger` before asking again"):
            spend(ledger, request="click")
        return draw(*args, **options)

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(ledger_module, "release", second_click)
        first = spend(ledger, request="click")
    assert spend(ledger, request="click") == spend(ledger, 0.25, request="click") == first
    assert ledger.account("ward").spent == Decimal("0.5")
    spend(ledger, request="another click")
    assert ledger.account("ward").left == 0


def test_a_tenth_ten_times_exhausts_one_exactly_and_more_is_refused_before_any_draw(ledger, monkeypatch):
    for _ in range(10):
        spend(ledger, 0.1)
    assert ledger.account("ward").left == 0

    def drawn(*_):
        raise AssertionError("drawn over budget")

    monkeypatch.setattr("ppsets_core.method.release.draw_release", drawn)
    told = r"Not everyone .* ε = 0\.025 within the budget of 1 for 'ward'.* cost 1 before.*ppsets ledger raise"
    rich = dataclasses.replace(named("ward"), is_new=True)  # what an account says of itself is not believed
    with pytest.raises(BudgetError, match=told):
        ledger.release(records_of(SCORES), planned(SCORES, 0.025), rich, again=True)
    assert (len(ledger.releases()), ledger.account("ward").budget) == (10, 1)


def test_the_account_is_chosen_once_and_asking_changes_nothing(ledger, path):
    before, given = path.read_bytes(), records_of(SCORES)
    assert ledger.account_for(given) is None
    assert ledger.account_for(given, budget=2).name == "scores", "the source's own name"
    assert ledger.account_for(given, "new") is None
    assert ledger.account_for(given, " Ward ") == ledger.account_for(given, "ward", 1) == ledger.account("ward")
    with pytest.raises(LedgerError, match=r"The budget of 'ward' is 1 already.*ppsets ledger raise"):
        ledger.account_for(given, "ward", 5)
    with pytest.raises(LedgerError, match="name must be"):
        ledger.account_for(given, "a\nb", 5)
    new = ledger.account_for(given, "new", "2.5")
    assert (new.is_new, new.budget, new.left, new.can_pay(2.5), new.can_pay(2.6)) == (True, 2.5, 2.5, True, False)
    assert path.read_bytes() == before


def test_a_new_account_is_opened_by_its_first_charge(ledger):
    given = records_of(SCORES)
    new = ledger.account_for(given, "new", 2)
    ledger.release(given, planned(SCORES, 0.001), new)
    assert [account.name for account in ledger.accounts()] == ["ward"], "a trivial plan is free and opens nothing"
    with pytest.raises(BudgetError):
        ledger.release(given, planned(SCORES, 3), new)
    assert [account.name for account in ledger.accounts()] == ["ward"]
    for spent in (Decimal("0.5"), 1):
        ledger.release(given, planned(SCORES, 0.5), new, again=True)
        account = ledger.account("new")
        assert (account.budget, account.spent, account.is_new) == (2, spent, False)
    assert [(change.account, change.budget) for change in ledger.snapshot().budget_changes] == [("ward", 1), ("new", 2)]


def test_what_was_paid_for_before_is_paid_again_only_by_who_insists(ledger):
    """Recognised by public facts: other records of that number are refused, too, and nobody hears of another's."""
    chosen, click = planned(SCORES, 0.1), {"request": "a click"}

    def pay(ledger=ledger, scores=SCORES, chosen=chosen, asked=click, **facts):
        return ledger.release(records_of(scores, **facts), chosen, named("ward"), **asked)

    first = pay()
    for scores in (SCORES, SCORES[::-1] / 2):
        told = r"Release no\. 1 of 'ward' .*Nothing was charged.*`ppsets ledger export 1`.*again=True"
        with pytest.raises(RepeatError, match=told):
            pay(scores=scores, asked={})
    assert pay() == first
    others = [{"chosen": planned(SCORES, 0.2)}, {"model": "v2"}, {"score": OWN}, {"unit": "patient"}]
    for other in (*others, {"asked": {"again": True}}):
        pay(**{"asked": {}} | other)
    bea = held_by(ledger, "bea", CURATOR)
    pay(bea, asked={"reason": "audit"})
    with pytest.raises(RepeatError, match=r"no\. 7 of"):
        pay(bea, asked={"reason": "audit"})
    assert [str(one.epsilon) for one in ledger.releases()] == ["0.1", "0.2", *["0.1"] * 5]


def test_refusals(ledger):
    ledger.open_account("Zürich", 1)
    for name in (unicodedata.normalize("NFD", "Zürich"), "zürich", "Zürich\u3164", "Zürich\ufe0f", " Zürich\u2800"):
        with pytest.raises(LedgerError, match="'Zürich' is in the ledger already"):
            ledger.open_account(name, 5)
    with pytest.raises(LedgerError, match="no data set"):
        ledger.raise_budget("nowhere", 3)
    for name in ("", "  ", "a\nb", "x" * 101, None):
        with pytest.raises(LedgerError, match="name must be"):
            ledger.open_account(name, 1)
    for budget in (0, -1, float("inf"), float("nan"), "much", None, "1e400"):
        with pytest.raises(InputError, match="privacy amount must"):
            ledger.open_account("new", budget)


def test_amounts_of_many_digits_are_exact_or_refused(ledger):
    ledger.open_account("nines", "0." + "9" * 40)
    spend(ledger, 0.5, name="nines")
    with pytest.raises(BudgetError):
        spend(ledger, 0.5, name="nines")
    whom = ledger.cohort_of_patients(["17"])
    for amount in (Decimal("0.1" + "1" * 40), "1e-50", Decimal(1) / 3**90):
        for way_in, *given in (
            (ledger.open_account, "long", amount),
            (ledger.raise_budget, "ward", amount),
            (ledger.account_named, "long", amount),
            (partial(ledger.charge, kind="check"), whom, amount, named("ward")),
        ):
            with pytest.raises(InputError, match="privacy amount"):
                way_in(*given)
    assert [account.name for account in ledger.accounts()] == ["ward", "nines"]


def test_budgets_are_only_raised_and_what_happened_keeps_its_order_whatever_the_clock_says(ledger, monkeypatch):
    for budget, now in ((2, "1970-01-01T00:00:00+00:00"), (3, "9999-12-31T23:59:59+00:00"), (4, "")):
        monkeypatch.setattr(ledger_module, "now", lambda now=now: now)
        ledger.raise_budget("ward", budget)
        spend(ledger, 0.25 * budget)
    with pytest.raises(LedgerError, match=r"is 4; it can only be raised"):
        ledger.raise_budget("ward", 2)
    assert [(change.account, change.budget) for change in ledger.snapshot().budget_changes] == [
        ("ward", n) for n in (1, 2, 3, 4)
    ]
    assert [release.epsilon for release in ledger.releases("ward")] == [Decimal(e) for e in ("0.5", "0.75", "1")]
    assert [release.id for release in ledger.releases()] == [1, 2, 3]


def test_exports_hold_releases_who_and_why(ledger):
    who, formula, records = Actor("https://login.example", "anna"), '=HYPERLINK("x")', records_of(SCORES)
    ledger.raise_budget("ward", 3, actor=who, reason="second model")
    ledger.open_account(formula, 3)
    ledger.release(records, planned(SCORES, 0.5), named("ward"), actor=who, reason=" audit ")
    spend(ledger, 0.25, name=formula, patients=PATIENTS, unit="patient", model="ab" * 8)
    assert [(release.actor, release.reason) for release in ledger.releases()] == [(who, "audit"), (None, None)]
    assert [(change.actor, change.reason) for change in ledger.snapshot().budget_changes][1] == (who, "second model")
    rows = list(csv.DictReader(io.StringIO(export_csv(ledger))))
    told = [[row[name] for name in ("dataset", "epsilon", "unit", "model", "subject", "reason")] for row in rows]
    assert told == [
        ["ward", "0.5", "record", "", "anna", "audit"],
        [f"'{formula}", "0.25", "patient", "ab" * 8, "", ""],
    ]
    assert float(rows[0]["threshold"]) == ledger.releases()[0].calibration.threshold
    document = json.loads(export_json(ledger))
    assert document["datasets"][0] == {"name": "ward", "budget": "3", "spent": "0.5", "left": "2.5"}
    signed = {"issuer": "https://login.example", "subject": "anna"}
    assert (signed | {"reason": "audit"}).items() <= document["releases"][0].items()
    assert (signed | {"reason": "second model"}).items() <= document["budgets"][1].items()
    assert (len(document["releases"]), len(document["budgets"])) == (2, 3)
    for wrong in ("a\nb", "x" * 501):
        with pytest.raises(LedgerError, match="printable"):
            ledger.raise_budget("ward", 4, reason=wrong)


def test_files_hold_neither_scores_nor_names_nor_an_unkeyed_hash_and_only_the_owner_reads_them(tmp_path):
    found = []
    for path in (tmp_path / "a", tmp_path / "b"):
        ledger = Ledger(path)
        ledger.open_account("ward", 1)
        spend(ledger, patients=PATIENTS)
        assert [os.stat(f"{path}{end}").st_mode & 0o077 for end in ("", ".key", ".head")] == [0, 0, 0]
        stored = path.read_bytes() + export_json(ledger).encode() + export_csv(ledger).encode()
        assert Path(f"{path}.key").read_bytes() not in stored
        for name in PATIENTS[::100]:
            assert name.encode() not in stored
            for digest in (hashlib.sha256, hashlib.sha1, hashlib.md5, partial(hashlib.blake2b, digest_size=8)):
                made = digest(name.encode())
                assert made.digest()[:8] not in stored
                assert made.hexdigest()[:16].encode() not in stored
        threshold = ledger.releases()[0].calibration.threshold
        assert not any(repr(float(score)).encode() in stored for score in SCORES if score != threshold)
        ((cell,),) = sqlite3.connect(path).execute("SELECT named FROM cohorts").fetchall()
        found.append(set(np.frombuffer(cell, dtype="<u8").tolist()))
    assert len(found[0]) == len(found[1]) == 2000
    assert not found[0] & found[1], "two ledgers give the same patients different hashes"


@pytest.mark.parametrize(
    ("endings", "act", "told"),
    [
        ([".key"], Path.unlink, "key .* is missing"),
        ([".key"], lambda path: path.write_bytes(os.urandom(32)), "another ledger's"),
        ([".key"], lambda path: path.chmod(0o644), "chmod 600"),
        ([".key"], lambda path: path.write_bytes(b"x"), "key .* is damaged"),
        ([""], Path.unlink, "its key is there. Restore the ledger from a backup"),
        (["", ".key"], Path.unlink, "its head is there. Restore the ledger from a backup: a new one would forget"),
        ([""], lambda path: path.write_bytes(b"noise" * 1000), "not a database"),
        ([".head"], Path.unlink, "head.* is missing"),
    ],
)
def test_a_damaged_ledger_is_refused_and_never_reset(ledger, path, endings, act, told):
    spend(ledger)
    for ending in endings:
        act(path.with_name(path.name + ending))
    for _ in range(2):
        with pytest.raises(LedgerError, match=told):
            Ledger(path).accounts()


@pytest.mark.parametrize("damage", ["edited", "gone"])
def test_what_others_change_or_damage_is_noticed_at_the_next_look(ledger, path, damage):
    assert ledger.account("ward").budget == 1
    Ledger(path).raise_budget("ward", 10)
    assert ledger.account("ward").budget == 10
    if damage == "gone":
        path.unlink()
    else:
        with sqlite3.connect(path) as db:
            db.execute("UPDATE entries SET body = replace(body, '1', '9')")
        db.close()
    for _ in range(2):
        with pytest.raises(LedgerError, match=r"changed by another program|cannot be used"):
            ledger.accounts()
