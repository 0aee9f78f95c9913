"""Small things that made people hesitate: budgets, ranks, edited files, what a result is of."""

import json

import numpy as np
import pytest

from ppsets_core.wording import weak_budget
from tests.ledger.spending import spend
from tests.pages.driving import button, texts


@pytest.mark.parametrize(("budget", "said"), [(2, ""), (10, ""), (11, "60,000"), (1000, "10^300")])
def test_a_budget_that_protects_nobody_is_said_so(budget, said):
    assert said in weak_budget(budget)
    assert bool(weak_budget(budget)) is bool(said)


def test_a_new_budget_of_a_thousand_is_warned_of(upload):
    at = upload()
    (budget,) = [each for each in at.number_input if each.label == "Privacy budget of the data set"]
    budget.set_value(1000.0).run()
    assert "A budget of 1,000 protects hardly anyone" in texts(at)


def test_raise_a_budget_opens_on_the_data_set_that_was_charged_last(screen, ledger):
    for name in ("a", "b", "c"):
        ledger.open_account(name, 2)
    spend(ledger, 1.0, np.linspace(0, 1, 700), "b")
    assert screen("ledger").selectbox(key="raise_name").value == "b"


def test_no_rank_has_a_fraction(at):
    at.radio(key="rule").set_value("paper").run()
    assert "about rank " in texts(at)
    assert "rank 5" not in "".join(word for word in texts(at).split() if word.count(".") and word[0].isdigit())


@pytest.fixture
def released(ledger):
    ledger.open_account("ward", 5)
    return json.loads(spend(ledger, 1.0, np.linspace(0, 1, 700), "ward", m=100).to_json())


def load(at, document):
    at.radio(key="source").set_value("A saved calibration").run()
    data = json.dumps(document).encode()
    return at.file_uploader(key="saved_calibration").set_value(("cal.json", data, "application/json")).run()


def test_the_ledgers_own_release_is_loaded_without_a_word(at, released):
    assert "does not know this release" not in texts(load(at, released))


def test_an_edited_threshold_is_refused(at, released):
    other = 0.5 if released["threshold"] != 0.5 else 0.6
    assert "changed since it was released" in texts(load(at, released | {"threshold": other}))


def test_a_release_of_elsewhere_is_marked_as_one_that_nobody_can_check(at, released):
    at = load(at, released | {"dataset": "another ward"})
    assert "does not know this release" in texts(at)
    assert button(at, "Use this calibration")
