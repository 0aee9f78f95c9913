"""What adds up is a patient's loss: against a simple model, over names, formats and cohorts that overlap."""

import io
import unicodedata
from decimal import Decimal

import numpy as np
import pytest

from ppsets_core import BudgetError, InputError, Ledger, LedgerError, one_per_patient, read_scores
from ppsets_core.ledger import cohort as cohort_module
from ppsets_core.ledger.charging import MOST_REFUSALS
from ppsets_core.ledger.cohort import cohort_of as cohort_of_scores
from ppsets_core.places import ledger_path
from tests.ledger.spending import cohort_of, named, records_of, spend


@pytest.fixture
def ledger(tmp_path) -> Ledger:
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.open_account("ward", 1)
    ledger.open_account("other", 1)
    return ledger


def charge(ledger: Ledger, patients, epsilon, name: str = "ward"):
    people = ledger.cohort_of_patients([str(patient) for patient in patients])
    return ledger.charge(people, epsilon, named(name), kind="check")


def train(ledger: Ledger, patients: str, epsilon: float, delta: float):
    """Each letter is an X-ray's patient."""
    return ledger.charge(
        ledger.cohort_of_patients(list(patients)), epsilon, named("ward"), kind="training", delta=delta
    )


@pytest.mark.faults
def test_random_cohorts_against_sums_for_each_patient(tmp_path, monkeypatch):
    """Never more than the budget for anyone, never refused while everyone has room."""
    monkeypatch.setattr("ppsets_core.ledger.charging.MOST_REFUSALS", 10**6)
    ledger, rng = Ledger(tmp_path / "ledger.sqlite"), np.random.default_rng(0)
    budgets = {"a": Decimal("1"), "b": Decimal("2.5"), "c": Decimal("0.7")}
    for name, budget in budgets.items():
        ledger.open_account(name, budget)
    lost, outcomes = [Decimal(0)] * 1000, []
    for _ in range(200):
        patients = rng.choice(1000, rng.integers(1, 200), replace=False)
        epsilon, name = Decimal(str(rng.choice([0.1, 0.25, 0.3, 0.001]))), str(rng.choice(list(budgets)))
        has_room = all(lost[patient] + epsilon <= budgets[name] for patient in patients)
        try:
            charge(ledger, patients, epsilon, name)
            charged = True
        except BudgetError:
            charged = False
        assert charged == has_room
        for patient in patients if charged else ():
            lost[patient] += epsilon
        outcomes.append(charged)
    assert 20 < sum(outcomes) < 180
    assert max(lost) <= max(budgets.values())


def test_one_more_one_less_a_part_and_a_union_are_charged_for_whom_they_share(ledger):
    charge(ledger, range(100), 0.75)
    for patients in (range(101), range(99), range(50, 60), [*range(99, 150)]):
        with pytest.raises(BudgetError):
            charge(ledger, patients, 0.5, "other")
    charge(ledger, range(100, 150), 1, "other")


def test_a_patient_with_several_records_loses_several_times(ledger):
    charge(ledger, ["a", "a", "b"], 0.5)
    with pytest.raises(BudgetError):
        charge(ledger, ["a"], 0.1)
    charge(ledger, ["b"], 0.5)


def test_spellings_of_one_patient_and_of_one_account_are_one(ledger):
    charge(ledger, ["José", "P17", "17", "x"], 1)
    for other in (unicodedata.normalize("NFD", "José"), "p17", "17.0", "017", "x\u200b", " x "):
        with pytest.raises(BudgetError):
            charge(ledger, [other], 0.5, "other")
    ledger.open_account("Zürich", 1)
    for other in (unicodedata.normalize("NFD", "Zürich"), "zürich", "Zürich\u3164", "Zürich\ufe0f", " Zürich\u2800"):
        with pytest.raises(LedgerError, match="'Zürich' is in the ledger already"):
            ledger.open_account(other, 1)
    rows = "José", unicodedata.normalize("NFD", "José"), "17", "17.0"
    read = read_scores(("patient,score\n" + "".join(f"{row},0.5\n" for row in rows)).encode(), "a.csv")
    assert len(one_per_patient(read)) == 2


def test_probabilities_scores_and_float32_are_the_same_records(ledger):
    shares = np.round(np.random.default_rng(0).random(400), 4)
    table = "label,normal,viral\n" + "".join(f"normal,{p:.4f},{1 - p:.4f}\n" for p in shares)
    scores = "score\n" + "".join(f"{1 - p:.4f}\n" for p in shares)
    array = io.BytesIO()
    np.save(array, (1 - shares).astype("f4"))
    first, *others = (
        read_scores(table.encode(), "a.csv"),
        read_scores(scores.encode(), "b.csv"),
        read_scores(array.getvalue(), "c.npy"),
    )
    ledger.charge(cohort_of(ledger, first), 1, named("ward"), kind="check")
    for other in others:
        for number in range(0, 400, 100):
            part = records_of(other.scores[number : number + 1])
            with pytest.raises(BudgetError):
                ledger.charge(cohort_of(ledger, part), 0.5, named("other"), kind="check")
        ledger.raise_budget("other", ledger.account("other").budget + Decimal("0.001"))


@pytest.mark.parametrize("first", ["named", "nameless"])
def test_the_same_file_without_its_column_of_patients_has_no_budget_of_its_own(ledger, first):
    scores = np.random.default_rng(0).random(300)
    files = [records_of(scores, patients=np.array([f"p{i}" for i in range(300)])), records_of(scores)]
    before, after = files if first == "named" else files[::-1]
    ledger.charge(cohort_of(ledger, before), 1, named("ward"), kind="check")
    with pytest.raises(BudgetError):
        ledger.charge(cohort_of(ledger, after), 0.5, named("other"), kind="check")


@pytest.mark.parametrize("named_by", [None, "p"])
def test_records_of_one_score_are_one_person_unless_they_are_named_and_a_refusal_says_so(ledger, named_by):
    """Two files that have nothing else in common: of records that name nobody there is nothing else to go by."""
    one, other = np.random.default_rng(0).random((2, 300))
    other[7] = one[5]
    whose = [
        None if named_by is None else np.array([f"{named_by}{i + start}" for i in range(300)]) for start in (0, 500)
    ]
    ledger.charge(cohort_of(ledger, records_of(one, patients=whose[0])), 1, named("ward"), kind="check")
    if named_by is None:
        with pytest.raises(BudgetError, match=r"a column `patient`.* tells them apart"):
            ledger.charge(cohort_of(ledger, records_of(other)), 0.5, named("other"), kind="check")
    else:
        ledger.charge(cohort_of(ledger, records_of(other, patients=whose[1])), 1, named("other"), kind="check")


def test_asking_tells_nothing_about_records(ledger):
    """499 of 500 scores known, the last guessed: nothing but a charge answers, and refusals are few and on record."""
    scores = np.round(np.random.default_rng(3).random(500), 3)
    spend(ledger, 1.0, scores)
    for guess in (scores[-1], 0.0005):
        given = records_of(np.append(scores[:-1], guess))
        assert ledger.account_for(given, "new") is None
        assert ledger.account_for(given) is None
        assert ledger.account_for(given, "other") == ledger.account("other")
    for _ in range(MOST_REFUSALS):
        with pytest.raises(BudgetError, match="Not everyone"):
            spend(ledger, 0.5, scores, "other")
    assert len(ledger.refusals()) == MOST_REFUSALS
    with pytest.raises(BudgetError, match=f"was refused {MOST_REFUSALS} times"):
        spend(ledger, 0.5, 1 - scores, "other")
    ledger.raise_budget("other", 2)
    spend(ledger, 0.5, scores, "other")


def test_a_training_adds_its_delta(ledger):
    train(ledger, "ab", 0.25, 0.006)
    with pytest.raises(BudgetError):
        train(ledger, "ab", 0.25, 0.006)
    charge(ledger, "ab", 0.75)
    with pytest.raises(InputError, match="one X-ray of each patient"):
        train(ledger, "c" * 40, 0.5, 1e-5)


def test_delta_counts_for_each_patient_by_their_own_records_and_is_written_down_as_it_was_asked(ledger):
    """2·e^0.1·0.004 is 0.0088 for a, who has no room for 0.004 more; b has, and nobody's records are in the export."""
    crowded = train(ledger, "aab", 0.1, 0.004)
    with pytest.raises(BudgetError):
        train(ledger, "a", 0.1, 0.004)
    single = train(ledger, "bc", 0.1, 0.004)
    assert crowded.delta == single.delta == Decimal("0.004")


def test_batches_add_up_to_the_whole_in_any_order(ledger):
    scores, key = np.random.default_rng(0).random(90), ledger.cohort_key
    patients = np.array([f"p{i // 2}" for i in range(90)])
    whole = cohort_of_scores(key, scores, patients)
    parts = [
        cohort_of_scores(key, scores[part], patients[part]) for part in (slice(50, 90), slice(0, 20), slice(20, 50))
    ]
    added = parts[0] + parts[1] + parts[2]
    assert added.identity == whole.identity
    assert (added.named == whole.named).all()
    assert (added.counts == whole.counts).all()


def test_too_many_patients_are_counted_as_a_data_set_with_one_budget_under_all_its_names(ledger, monkeypatch):
    monkeypatch.setattr(cohort_module, "MOST_RECORDS", 100)
    scores, others = (np.random.default_rng(seed).random(300) for seed in (0, 1))
    first = cohort_of(ledger, records_of(scores, patients=np.array([f"p{i}" for i in range(300)])))
    second = cohort_of(ledger, records_of(others))
    for name in "abcd":
        ledger.open_account(name, 1)
    assert ledger.charge(second, 0.25, named("b"), kind="check").counted_by == "data set"
    for name in "abc":  # under b it comes second
        ledger.charge(first, 0.25, named(name), kind="check")
    for name in "abcd":
        with pytest.raises(BudgetError):
            ledger.charge(first, 0.5, named(name), kind="check")


def test_one_home_whatever_the_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    for value, place in (("", ".ppsets"), ("  ", ".ppsets"), ("~/x", "x"), (str(tmp_path / "y"), "y")):
        monkeypatch.setenv("PPSETS_HOME", value)
        assert ledger_path() == tmp_path / place / "ledger.sqlite"
    monkeypatch.setenv("PPSETS_HOME", "ledgers")
    with pytest.raises(LedgerError, match="whole path"):
        ledger_path()


@pytest.mark.faults
def test_many_records_at_once_are_known_as_few_are():
    scores = np.random.default_rng(5).random(cohort_module._MANY)
    scores[:2] = 0.0, 1.0
    whole = cohort_of_scores(b"k" * 32, scores, None)
    parts = [cohort_of_scores(b"k" * 32, part, None) for part in np.split(scores, 4)]
    assert whole.identity == (parts[0] + parts[1] + parts[2] + parts[3]).identity
    assert np.array_equal(whole.contents, np.concatenate([part.contents for part in parts]))
