"""The ledger: budgets, recognition, exact sums, history and export."""

import csv
import io
import json
import os
from decimal import Decimal

import numpy as np
import pytest

import ppsets_core.ledger.ledger as ledger_module
from ppsets_core import BudgetError, Calibration, InputError, Ledger, LedgerError
from ppsets_core.ledger.export import export_csv, export_json

SCORES = np.random.default_rng(0).random(2000)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "home" / "ledger.sqlite"


@pytest.fixture
def ledger(path):
    ledger = Ledger(path)
    ledger.add("ward", 1)
    return ledger


def spend(ledger, epsilon=0.5, scores=SCORES, dataset="ward", **options):
    return ledger.calibrate(dataset, scores, 0.1, epsilon, method="sharp", **options)


def test_a_release_is_charged_and_recorded(ledger, path):
    calibration = spend(ledger)
    assert isinstance(calibration, Calibration)
    assert not calibration.simulated
    for view in (ledger, Ledger(path)):
        account = view.dataset("ward")
        assert (account.budget, account.spent, account.left) == (1, Decimal("0.5"), Decimal("0.5"))
        (release,) = view.releases()
        assert (release.dataset, release.epsilon, release.calibration) == ("ward", Decimal("0.5"), calibration)


def test_what_a_release_protects_and_its_model_are_kept_and_exported(ledger):
    spend(ledger, 0.25, unit="patient", model="ab" * 8)
    spend(ledger, 0.25)
    assert [(r.calibration.unit, r.calibration.model) for r in ledger.releases()] == [
        ("patient", "ab" * 8),
        ("record", None),
    ]
    rows = list(csv.DictReader(io.StringIO(export_csv(ledger))))
    assert [(row["unit"], row["model"]) for row in rows] == [("patient", "ab" * 8), ("record", "")]
    assert [row["unit"] for row in json.loads(export_json(ledger))["releases"]] == ["patient", "record"]


@pytest.mark.parametrize("wrong", [{"unit": "hospital"}, {"model": "mine"}])
def test_a_wrong_unit_or_model_is_refused_before_anything_is_charged(ledger, wrong):
    with pytest.raises(InputError, match="must be"):
        spend(ledger, **wrong)
    assert ledger.dataset("ward").spent == 0


def test_a_click_that_arrives_during_the_draw_is_not_told_to_pay_again(ledger, monkeypatch):
    draw = ledger_module.calibrate_as_planned

    def second_click(*args, **options):
        with pytest.raises(LedgerError, match="is being drawn or was interrupted") as told:
            spend(ledger, request="click")
        assert "Look at the Ledger screen or at `python -m ppsets_core ledger` before asking again" in str(told.value)
        return draw(*args, **options)

    monkeypatch.setattr(ledger_module, "calibrate_as_planned", second_click)
    first = spend(ledger, request="click")
    assert spend(ledger, request="click") == first
    assert ledger.dataset("ward").spent == Decimal("0.5")


def test_over_budget_is_refused_before_any_draw(ledger, monkeypatch):
    spend(ledger, 0.75)

    def drawn(*_):
        raise AssertionError("drawn over budget")

    monkeypatch.setattr("ppsets_core.private_quantile.draw_release", drawn)
    with pytest.raises(
        BudgetError,
        match=r"ε = 0\.5 is more than the 0\.25 left of the budget of 1 for 'ward'.*ppsets_core ledger raise",
    ):
        spend(ledger)
    assert len(ledger.releases()) == 1


def test_a_tenth_ten_times_exhausts_one_exactly(ledger):
    for _ in range(10):
        spend(ledger, 0.1)
    assert ledger.dataset("ward").left == 0
    with pytest.raises(BudgetError):
        spend(ledger, 0.025)


def test_the_same_records_under_another_name_or_order_charge_the_first_account(ledger):
    ledger.add("other", 100)
    spend(ledger, 0.75)
    assert ledger.dataset_of(SCORES[::-1]) == "ward"
    assert ledger.dataset_of(SCORES[:-1]) is None
    with pytest.raises(BudgetError, match="'ward'"):
        spend(ledger, scores=np.random.default_rng(3).permutation(SCORES), dataset="other")
    assert ledger.dataset("other").spent == 0


def test_records_chosen_from_a_known_upload_are_known_again(ledger):
    ledger.add("other", 100)
    spend(ledger, 0.25)
    spend(ledger, 0.25, scores=SCORES[:1000], uploaded=SCORES, dataset="other")
    assert ledger.dataset("ward").spent == Decimal("0.5")


def test_one_name_is_one_budget_whatever_the_records(ledger):
    spend(ledger, 0.75)
    with pytest.raises(BudgetError):
        spend(ledger, scores=1 - SCORES)


def test_a_trivial_plan_is_free(ledger):
    assert spend(ledger, 0.001).threshold == 1
    assert ledger.releases() == []
    assert ledger.dataset("ward").spent == 0


def test_repeating_a_request_returns_the_same_release_for_one_charge(ledger):
    first = spend(ledger, request="click-1")
    assert spend(ledger, request="click-1") == first
    assert spend(ledger, 0.25, request="click-1") == first
    assert ledger.dataset("ward").spent == Decimal("0.5")
    spend(ledger, request="click-2")
    assert ledger.dataset("ward").left == 0


def test_budgets_are_only_raised_and_each_change_is_kept(ledger):
    ledger.raise_budget("ward", "2.5")
    with pytest.raises(LedgerError, match=r"is 2\.5; it can only be raised"):
        ledger.raise_budget("ward", 2)
    assert [(c.dataset, c.budget) for c in ledger.budget_changes()] == [("ward", 1), ("ward", Decimal("2.5"))]
    assert ledger.dataset("ward").budget == Decimal("2.5")


def test_refusals(ledger):
    with pytest.raises(LedgerError, match="is in the ledger already"):
        ledger.add("ward", 5)
    with pytest.raises(LedgerError, match="no data set 'nowhere'"):
        spend(ledger, dataset="nowhere")
    with pytest.raises(LedgerError, match="no data set"):
        ledger.raise_budget("nowhere", 3)
    for name in ("", "  ", "a\nb", "x" * 101, None):
        with pytest.raises(LedgerError, match="name must be"):
            ledger.add(name, 1)
    for budget in (0, -1, float("inf"), float("nan"), "much", None, "1e400"):
        with pytest.raises(InputError, match="privacy amount must"):
            ledger.add("new", budget)


def test_history_keeps_its_order_when_the_clock_is_set_back(ledger, monkeypatch):
    spend(ledger, 0.25)
    monkeypatch.setattr("ppsets_core.ledger.ledger._now", lambda: "1999-01-01T00:00:00+00:00")
    spend(ledger, 0.5)
    assert [release.epsilon for release in ledger.releases("ward")] == [Decimal("0.25"), Decimal("0.5")]
    assert ledger.dataset("ward").spent == Decimal("0.75")


def test_export(ledger):
    ledger.add('=HYPERLINK("x")', 1)
    spend(ledger, 0.5)
    spend(ledger, 0.25, scores=1 - SCORES, dataset='=HYPERLINK("x")')
    rows = list(csv.DictReader(io.StringIO(export_csv(ledger))))
    assert [row["epsilon"] for row in rows] == ["0.5", "0.25"]
    assert rows[1]["dataset"] == '\'=HYPERLINK("x")'
    assert float(rows[0]["threshold"]) == ledger.releases()[0].calibration.threshold
    document = json.loads(export_json(ledger))
    assert document["datasets"][0] == {"name": "ward", "budget": "1", "spent": "0.5", "left": "0.5"}
    assert len(document["releases"]) == len(document["budgets"]) == 2


def test_files_hold_neither_scores_nor_an_unkeyed_hash_and_only_the_owner_reads_them(ledger, path):
    import hashlib

    spend(ledger)
    assert os.stat(path).st_mode & 0o077 == 0
    assert os.stat(f"{path}.key").st_mode & 0o077 == 0
    stored = path.read_bytes() + export_json(ledger).encode() + export_csv(ledger).encode()
    canonical = np.sort(SCORES).tobytes()
    for digest in (hashlib.sha256(canonical), hashlib.sha1(canonical), hashlib.md5(canonical)):
        assert digest.hexdigest().encode() not in stored
        assert digest.digest() not in stored
    threshold = ledger.releases()[0].calibration.threshold
    assert not any(repr(float(score)).encode() in stored for score in SCORES if score != threshold)
    assert (path.parent / "ledger.sqlite.key").read_bytes() not in stored


def test_two_ledgers_give_the_same_records_different_fingerprints(tmp_path):
    import sqlite3

    found = set()
    for name in ("a", "b"):
        ledger = Ledger(tmp_path / name)
        ledger.add("ward", 1)
        spend(ledger)
        found |= set(sqlite3.connect(tmp_path / name).execute("SELECT fingerprint FROM fingerprints").fetchall())
    assert len(found) == 2


@pytest.mark.parametrize(
    "damage", ["key gone", "key of another", "key readable", "key short", "ledger gone", "ledger noise"]
)
def test_a_damaged_ledger_is_refused_and_never_reset(ledger, path, damage, tmp_path):
    spend(ledger)
    key = path.with_name(path.name + ".key")
    if damage == "key gone":
        key.unlink()
    elif damage == "key of another":
        key.write_bytes(os.urandom(32))
    elif damage == "key readable":
        key.chmod(0o644)
    elif damage == "key short":
        key.write_bytes(b"x")
    elif damage == "ledger gone":
        path.unlink()
    else:
        path.write_bytes(b"noise" * 1000)
    for _ in range(2):
        with pytest.raises(LedgerError):
            Ledger(path)
