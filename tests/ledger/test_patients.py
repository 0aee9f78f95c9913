"""Whom a charge counts for: spellings, several records, records without names, one version back, and what is said."""

from decimal import Decimal

import numpy as np
import pytest

from ppsets_core import BudgetError, InputError, Ledger, LedgerError, one_per_patient, plan, read_scores
from ppsets_core.ledger import charging
from ppsets_core.ledger.charging import MOST_REFUSALS, note_on_everyone, patient_hashes
from ppsets_core.places import ledger_path
from tests.ledger.spending import cohort_of, named, records_of, spend

SCORES = np.random.default_rng(1).random(300).round(6)


@pytest.fixture
def ledger(tmp_path) -> Ledger:
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.open_account("ward", 1)
    ledger.open_account("other", 1)
    return ledger


def charge(ledger: Ledger, patients, epsilon, name: str = "ward"):
    """Each is a record's patient; None: the file has no column of patients."""
    return ledger.charge(ledger.cohort_of_patients(patients), epsilon, named(name), kind="check")


def train(ledger: Ledger, patients: str, epsilon: float, delta: float):
    """Each letter is an X-ray's patient."""
    people = ledger.cohort_of_patients(list(patients))
    return ledger.charge(people, epsilon, named("ward"), kind="training", delta=delta)


def pay(ledger: Ledger, file: str, epsilon: float, name: str = "ward", *, one_each: bool = False) -> None:
    records = read_scores(file.encode(), "a.csv")
    records = one_per_patient(records) if one_each else records
    ledger.release(records, plan(len(records), 0.1, epsilon), named(name), again=True)


NAMED = "patient,score\nP,0.111111\nP,0.222222\n" + "".join(f"o{i},{s}\n" for i, s in enumerate(SCORES))
NAMELESS = "score\n0.111111\n0.222222\n" + "".join(f"{s}\n" for s in SCORES)


@pytest.mark.parametrize("first", ["named", "nameless"])
@pytest.mark.parametrize("one_each", [False, True])
def test_a_patient_hidden_in_a_file_without_names_has_no_second_budget(ledger, first, one_each):
    """P has two X-rays in the file. With all records the named file costs P twice its ε."""
    files, epsilon = [NAMED, NAMELESS], 0.7 if one_each else 0.4
    before, after = files if first == "named" else files[::-1]
    pay(ledger, before, epsilon, one_each=one_each)
    whom = "in 'ward', for whom these records count" if after == NAMELESS else "in these records"
    with pytest.raises(BudgetError, match=f"Not everyone {whom}"):
        pay(ledger, after, epsilon, one_each=one_each)
    pay(ledger, NAMELESS, 1, "other")


def test_what_an_earlier_version_knew_by_its_scores_counts_for_everyone_in_the_account(ledger):
    """As it was written one version back: hashes of scores instead of names, in a cohort of their own."""
    with ledger._store.writing() as log:
        score = patient_hashes(b"k", ["0.5"]).tobytes()
        mixed = patient_hashes(ledger.cohort_key, ["a"]).tobytes(), np.ones(1, "<u4").tobytes(), score, score
        for number, cells in enumerate(((b"", b"", b"", score), mixed), 1):
            body = {"account": "ward", "kind": "check", "epsilon": "0.5", "delta": "0", "time": "", "request": None}
            by = {"counted_by": "record" if number == 1 else "patient", "cohort": log.store_cohort(cells)}
            log.append("charge", body | by | {"number": number})
    assert [release.counted_by for release in ledger.releases()] == ["account", "patient"]
    for patients in (["a"], ["b"], [None]):
        with pytest.raises(BudgetError):
            charge(ledger, patients, 0.1)
    charge(ledger, ["b"], 1, "other")
    with pytest.raises(BudgetError):
        charge(ledger, ["a"], 0.6, "other")


def test_it_is_said_before_it_is_paid_that_a_charge_counts_for_everyone(monkeypatch):
    scores = np.full(3, 0.5)
    told = [
        note_on_everyone(records_of(scores, patients=patients), "ward")
        for patients in (None, np.array(["a", "", "b"]), np.array(["a", "b", "c"]))
    ]
    assert told[0].startswith("These records name no patients, so ε counts for everyone in 'ward'")
    assert told[1].startswith("Some of these records name no patient")
    assert told[2] == ""
    monkeypatch.setattr(charging, "MOST_RECORDS", 2)
    assert "too many" in note_on_everyone(records_of(scores, patients=np.array(["a", "b", "c"])), "ward")


def test_more_records_than_are_listed_count_for_everyone(ledger, monkeypatch):
    monkeypatch.setattr(charging, "MOST_RECORDS", 100)
    crowd = records_of(SCORES, patients=np.array([f"p{i}" for i in range(300)]))
    assert ledger.charge(cohort_of(ledger, crowd), 0.75, named("ward"), kind="check").counted_by == "account"
    assert charge(ledger, [f"p{i}" for i in range(101)], 0.25).counted_by == "account"
    with pytest.raises(BudgetError):
        charge(ledger, ["someone else"], 0.5)


def test_asking_tells_nothing_about_records(ledger):
    """499 of 500 patients known, the last guessed: nothing but a charge answers, and refusals are few and on record."""
    people = np.array([f"p{i}" for i in range(300)])
    spend(ledger, 1.0, SCORES, patients=people)
    for guess in ("p299", "another"):
        given = records_of(SCORES, patients=np.append(people[:-1], guess))
        assert ledger.account_for(given, "new") is None
        assert ledger.account_for(given) is None
        assert ledger.account_for(given, "other") == ledger.account("other")
    for _ in range(MOST_REFUSALS):
        with pytest.raises(BudgetError, match="Not everyone"):
            charge(ledger, ["p7"], 0.5, "other")
    assert len(ledger.snapshot().refusals) == MOST_REFUSALS
    with pytest.raises(BudgetError, match=f"was refused {MOST_REFUSALS} times.*ask a steward"):
        charge(ledger, ["nobody before"], 0.5, "other")
    ledger.raise_budget("other", 2)
    charge(ledger, ["p7"], 0.5, "other")


def test_delta_is_bounded_and_the_log_tells_nobodys_records(ledger):
    assert train(ledger, "aab", 0.1, 0.004).delta == train(ledger, "bc", 0.1, 0.004).delta == Decimal("0.004")
    with pytest.raises(InputError, match="one X-ray of each patient"):
        train(ledger, "c" * 40, 0.5, 1e-5)


def test_what_anyone_has_lost_at_most_is_said_from_public_numbers(ledger):
    people, said = np.array([f"p{i}" for i in range(300)]), ledger.loss_in_words
    assert said("ward").startswith("No one has lost anything through releases under 'ward'. Its budget is 1:")
    spend(ledger, 0.25, SCORES, patients=people, unit="patient")
    charge(ledger, [None], 0.25)
    assert said(" Ward ").startswith(
        "No one has lost more than ε = 0.5 through releases under 'ward'; where records name no"
    )
    train(ledger, "aab", 0.1, 0.001)
    assert "more than ε = 1 with δ = 0.01 through" in said("ward"), "how many X-rays a patient has is private"
    with pytest.raises(LedgerError, match="no data set 'nowhere'"):
        said("nowhere")


def test_one_home_whatever_the_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    for value, place in (("", ".ppsets"), ("  ", ".ppsets"), ("~/x", "x"), (str(tmp_path / "y"), "y")):
        monkeypatch.setenv("PPSETS_HOME", value)
        assert ledger_path() == tmp_path / place / "ledger.sqlite"
    monkeypatch.setenv("PPSETS_HOME", "ledgers")
    with pytest.raises(LedgerError, match="whole path"):
        ledger_path()
