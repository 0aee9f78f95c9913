"""The private check: what it costs, what it draws, and intervals that hold the truth with the noise counted."""

import json
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from ppsets_core import InputError, Ledger, Records, plan, simulate
from ppsets_core.errors import BudgetError
from ppsets_core.ledger.export import covered_in_words, export_csv, export_json
from ppsets_core.method.check import clopper_pearson
from ppsets_core.method.private_check import (
    PrivateCheck,
    _noise_at_least,
    _noise_of_two,
    digest_of,
    draw_counts,
    noisy_interval,
    private_check,
)

CLASSES = ("a", "b", "c")
CALIBRATION = simulate(np.linspace(0, 0.8, 1000), plan(1000, 0.1, 5.0), np.random.default_rng(0))


def test_an_epsilon_of_any_kind_of_number_is_charged_and_drawn_with(tmp_path):
    ledger = Ledger(tmp_path / "ledger.sqlite")
    for number in (np.float64(0.5), Fraction(1, 2)):
        account = ledger.account_for(records(), "ward", budget=2)
        assert ledger.check(records(), CALIBRATION, account, number, again=True).epsilon == 0.5
    assert [one.status for one in ledger.releases()] == ["released", "released"]


def records(n=400, seed=0, **facts):
    rng = np.random.default_rng(seed)
    probabilities = rng.dirichlet([1, 2, 4], n)
    labels = np.array([rng.choice(3, p=row) for row in probabilities])
    scores = 1 - probabilities[np.arange(n), labels]
    return Records("ward.csv", scores, CLASSES, probabilities, labels, **facts)


def counts_of(data, per) -> np.ndarray:
    """What is drawn from: the covered of all, or the covered and the missed of each diagnosis."""
    counts = data.coverage(CALIBRATION)
    if per is None:
        return counts.by_class[:, :1].sum(axis=0)
    return counts.by_class.T.ravel()


def laplace(scale, reach):
    z = np.arange(-reach, reach + 1)
    mass = np.exp(-np.abs(z) / scale)
    return z, mass / mass.sum()


@pytest.mark.parametrize("scale", [0.2, 1.0, 10.0])
def test_tails_of_the_noise_are_those_of_its_law(scale):
    z, mass = laplace(scale, 800)
    for bound in (-7, -1, 0, 1, 2, 9):
        assert _noise_at_least(np.array(bound), scale) == pytest.approx(mass[z >= bound].sum(), abs=1e-12)
    two = np.convolve(mass, mass)
    away = np.abs(np.arange(len(two)) - 1600)
    within = _noise_of_two(scale, 0.01, 10_000)
    assert two[away > within].sum() <= 0.01 < two[away > within - 1].sum()


@pytest.mark.parametrize(
    ("epsilon", "n"),
    [
        (1, 50),
        (3, 30),
        *(pytest.param(*one, marks=pytest.mark.statistical) for one in ((0.1, 50), (0.1, 1000), (1, 1000))),
    ],
)
@pytest.mark.parametrize("p", [0.05, 0.8, 0.9, 0.99])
def test_the_interval_holds_the_truth_at_least_as_often_as_it_says(epsilon, n, p):
    """Summed over the exact law of the noisy count: no draw, no luck."""
    scale = 1 / epsilon
    z, noise = laplace(scale, int(40 * scale))
    law = np.convolve(stats.binom.pmf(np.arange(n + 1), n, p), noise)
    seen = np.arange(len(law)) + z[0]
    likely = seen[law > 1e-7]
    held = sum(law[s - z[0]] for s in likely if _inside(p, noisy_interval(int(s), n, n, scale, 0.95)))
    assert held >= 0.95 - 1e-4


def _inside(p, interval):
    return interval[0] <= p <= interval[1]


def test_without_noise_to_speak_of_it_is_clopper_and_pearsons():
    assert noisy_interval(90, 100, 100, 1e-3, 0.95) == pytest.approx(clopper_pearson(90, 100), abs=1e-9)
    wide = noisy_interval(90, 100, 100, 10.0, 0.95)
    assert wide[0] < clopper_pearson(90, 100)[0]
    assert wide[1] > clopper_pearson(90, 100)[1]
    assert noisy_interval(-40, 100, 100, 2.0, 0.95) == (0.0, 0.0)
    assert noisy_interval(400, 100, 100, 2.0, 0.95) == (1.0, 1.0)


def test_an_interval_of_a_hundred_million_takes_room_for_what_is_likely_only():
    n = 10**8
    tracemalloc.start()
    low, high = noisy_interval(90_000_000, n, n, 2.0, 0.95)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (low, high) == pytest.approx(clopper_pearson(90_000_000, n), abs=1e-7)
    assert _noise_of_two(2.0, 0.01, n) == _noise_of_two(2.0, 0.01, 10_000)
    assert peak < 50e6


def test_replacing_a_record_moves_the_counts_by_no_more_than_the_noise_is_made_for():
    """Every label and either outcome for the replaced record, held against L1 distances 1 and 2."""
    base = records(30)
    rows = np.array([[0.98, 0.01, 0.01], [0.01, 0.98, 0.01], [0.01, 0.01, 0.98]])
    changed = []
    for label in range(3):
        for row in rows:
            probabilities, labels = base.probabilities.copy(), base.labels.copy()
            probabilities[4], labels[4] = row, label
            scores = 1 - probabilities[np.arange(30), labels]
            changed.append(Records("w", scores, CLASSES, probabilities, labels))
    for per, most in ((None, 1), ("diagnosis", 2)):
        counts = [counts_of(one, per) for one in changed]
        distances = {int(np.abs(one - other).sum()) for one in counts for other in counts}
        assert max(distances) == most


@pytest.mark.parametrize("epsilon", [0.1, 0.3, 1.0, 7.7])
@pytest.mark.parametrize(("per", "sensitivity"), [(None, 1), ("diagnosis", 2)])
def test_the_noise_loses_no_more_than_is_charged(epsilon, per, sensitivity):
    scale = private_check(records().coverage(CALIBRATION), epsilon, per=per).scale
    assert Fraction(sensitivity) / Fraction(scale) <= Fraction(str(epsilon))
    assert scale == pytest.approx(sensitivity / epsilon)


def test_draws_follow_the_discrete_laplace():
    drawn = np.array(draw_counts([100] * 4000, 2.0)) - 100
    z, mass = laplace(2.0, 60)
    seen = np.array([(drawn <= -4).sum(), *((drawn == k).sum() for k in range(-3, 4)), (drawn >= 4).sum()])
    law = np.array([mass[z <= -4].sum(), *(mass[z == k].sum() for k in range(-3, 4)), mass[z >= 4].sum()])
    assert stats.chisquare(seen, law * 4000).pvalue > 1e-6


@pytest.mark.parametrize("per", [None, "diagnosis"])
def test_a_release_tells_counts_near_the_truth_and_survives_its_json(per):
    data = records(unit_of := 600)
    check = private_check(data.coverage(CALIBRATION), 20.0, per=per, dataset="ward")
    assert [*check.covered, *check.missed] == pytest.approx(counts_of(data, per), abs=3)
    assert (check.n, check.checked, check.unit) == (unit_of, digest_of(CALIBRATION), "record")
    assert PrivateCheck.from_json(check.to_json()) == check
    for share, (low, high) in zip(check.shares(), check.intervals(), strict=True):
        assert low <= share <= high


CHANGES = [{"n": 0}, {"epsilon": -1}, {"covered": [1, 2]}, {"covered": ["1"]}, {"per": "site"}, {"unit": "ward"}]
CHANGES += [{"more": 1}, {"kind": "release"}, {"date": "today"}]


@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_a_changed_file_is_refused(change):
    document = json.loads(private_check(records().coverage(CALIBRATION), 1.0).to_json())
    with pytest.raises(InputError):
        PrivateCheck.from_json(json.dumps(document | change))


def test_the_ledger_charges_first_answers_a_repeated_request_and_refuses_what_is_over(tmp_path):
    ledger = Ledger(tmp_path / "ledger.sqlite")
    data = records(patients=np.array([f"p{i}" for i in range(400)]), unit="patient")
    account = ledger.account_for(data, "ward", 1)
    check = ledger.check(data, CALIBRATION, account, 0.6, per="diagnosis", request="click")
    assert (check.dataset, check.unit, check.epsilon) == ("ward", "patient", 0.6)
    assert ledger.check(data, CALIBRATION, account, 0.6, per="diagnosis", request="click") == check
    assert str(ledger.account("ward").spent) == "0.6"
    with pytest.raises(BudgetError):
        ledger.check(data, CALIBRATION, ledger.account("ward"), 0.6)
    (release,) = ledger.releases()
    assert (release.check, release.calibration, release.status) == (check, None, "released")
    assert covered_in_words(check).startswith("a: ")
    assert "check" in export_csv(ledger)
    assert json.loads(export_json(ledger))["releases"][0]["kind"] == "check"


def test_what_cannot_be_checked_costs_nothing(tmp_path):
    ledger = Ledger(tmp_path / "ledger.sqlite")
    bare = Records("s", np.array([0.1]))
    account = ledger.account_for(bare, "ward", 1)
    for data, options, words in (
        (bare, {}, "a probability for each diagnosis"),
        (records(), {"per": "site"}, "all patients together"),
    ):
        with pytest.raises(InputError, match=words):
            ledger.check(data, CALIBRATION, account, 0.5, **options)
    assert ledger.releases() == []


@pytest.mark.statistical
@pytest.mark.parametrize("n", [50, 1000])
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
@pytest.mark.parametrize("per", [None, "diagnosis"])
def test_intervals_hold_the_truth_over_real_draws(n, epsilon, per):
    """New patients and OpenDP's own noise each time; three standard errors below 95% are allowed."""
    rng, rounds, truths = np.random.default_rng(n), 300, np.array([0.85, 0.9, 0.97])
    mix, held = np.array([0.2, 0.3, 0.5]), []
    for _ in range(rounds):
        labels = rng.choice(3, n, p=mix)
        inside = rng.random(n) < truths[labels]
        probabilities = np.full((n, 3), 0.05)
        probabilities[np.arange(n), labels] = 0.9
        probabilities[~inside] = 1 / 2
        probabilities[np.flatnonzero(~inside), labels[~inside]] = 0.0
        data = Records("w", 1 - probabilities[np.arange(n), labels], CLASSES, probabilities, labels)
        intervals = private_check(data.coverage(CALIBRATION), epsilon, per=per).intervals()
        aims = [float(mix @ truths)] if per is None else truths.tolist()
        held += [low <= aim <= high for aim, (low, high) in zip(aims, intervals, strict=True)]
    assert np.mean(held) >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / rounds)
