"""Without privacy, thresholds and sets are MAPIE's: the same scores, the same quantile, the same comparison."""

import numpy as np
import pytest
from mapie.classification import SplitConformalClassifier
from mapie.conformity_scores import RAPSConformityScore
from mapie.regression import ConformalizedQuantileRegressor, SplitConformalRegressor
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.linear_model import LinearRegression, LogisticRegression, QuantileRegressor
from sklearn.preprocessing import scale

import ppsets_core as pp
from ppsets_core.method.calibration import Simulation
from ppsets_core.scores import Cqr, Raps, Residual

ALPHAS = [0.05, 0.1, 0.3]
BOUND = 400.0


def classification(load):
    """A model that is unsure, the records to calibrate with, and new ones."""
    rows, labels = load(return_X_y=True)
    rng = np.random.default_rng(0)
    rows = scale(rows) + rng.normal(0, 1.5, rows.shape)
    order = rng.permutation(len(rows))
    parts = np.split(order, [len(rows) // 5, len(rows) // 2])
    model = LogisticRegression(C=0.01, max_iter=500).fit(rows[parts[0]], labels[parts[0]])
    return model, *((rows[part], labels[part]) for part in parts[1:])


def three_classes(**given):
    rows, labels = load_digits(**given)
    return rows, labels % 3


SEVERAL = {"digits": load_digits, "three classes": three_classes}
DATA = SEVERAL | {"breast cancer": load_breast_cancer}  # MAPIE has but one score for two classes


class NoRandomness(np.random.RandomState):
    """MAPIE subtracts a random share of the true class's probability in `aps` and `raps`; so it is none."""

    def uniform(self, low=0.0, high=1.0, size=None):
        return np.zeros(size)


def threshold_as_calibration(threshold: float, score) -> Simulation:
    """A bare threshold for another score than 1 − p, as a calibration would hold it."""
    public = pp.plan(1000, 0.1, 1.0, m=10)
    fields = {name: getattr(public, name) for name in public.__dataclass_fields__}
    return Simulation(drawn=(threshold,), classes=(), model=None, score=score, **fields)


def theirs(model, calibration, new, score, **given):
    mapie = SplitConformalClassifier(
        model,
        confidence_level=[1 - a for a in ALPHAS],
        conformity_score=score,
        prefit=True,
        random_state=NoRandomness(0),
    )
    mapie.conformalize(*calibration)
    sets = mapie.predict_set(new[0], **given)[1]
    return mapie._mapie_classifier.conformity_score_function_, sets


@pytest.mark.parametrize("load", DATA.values(), ids=DATA)
def test_lac(load):
    model, calibration, new = classification(load)
    scores = pp.conformity_scores(model.predict_proba(calibration[0]), calibration[1])
    found, sets = theirs(model, calibration, new, "lac")
    for place, alpha in enumerate(ALPHAS):
        threshold = pp.nonprivate_threshold(scores, alpha)
        assert threshold == pytest.approx(found.quantiles_[place], abs=1e-12)
        assert (pp.prediction_sets(model.predict_proba(new[0]), threshold) == sets[:, :, place]).all()


@pytest.mark.parametrize("name", ["aps", "raps"])
@pytest.mark.parametrize("load", SEVERAL.values(), ids=SEVERAL)
def test_adaptive(load, name):
    model, calibration, new = classification(load)
    without = {"conformity_score_params": {"include_last_label": False}}
    given = RAPSConformityScore(size_raps=0.2) if name == "raps" else "aps"
    found, sets = theirs(model, calibration, new, given, **without)
    for place, alpha in enumerate(ALPHAS):
        score, bound, rows, labels = "aps", 1.0, *calibration
        if name == "raps":
            penalty, free = float(found.lambda_star[place]), int(found.k_star[place])
            score = Raps(penalty, free)
            bound = 1 + penalty * max(0, len(model.classes_) - free)
            chose = {row.tobytes() for row in found.X_raps}  # λ and k, and are not in the quantile
            kept = [row.tobytes() not in chose for row in rows]
            rows, labels = rows[kept], labels[kept]
        scores = pp.conformity_scores(model.predict_proba(rows), labels, score)
        threshold = pp.nonprivate_threshold(scores, alpha)
        assert threshold * bound == pytest.approx(found.quantiles_[place], abs=1e-9)
        drawn = threshold_as_calibration(threshold, pp.scores.score_named(score))
        ours = pp.prediction_sets(model.predict_proba(new[0]), drawn)
        is_empty = ~ours.any(axis=1)  # there MAPIE lists the likeliest class all the same
        assert (ours[~is_empty] == sets[~is_empty, :, place]).all()
        assert (sets[is_empty, :, place].sum(axis=1) == 1).all()


@pytest.mark.filterwarnings("ignore:WARNING. your conformalization dataset has less labels")
@pytest.mark.parametrize("load", DATA.values(), ids=DATA)
def test_each_class(load):
    """MAPIE has no Mondrian classifier in version 1; one quantile per class is its quantile of that class."""
    model, (rows, labels), new = classification(load)
    scores = pp.conformity_scores(model.predict_proba(rows), labels)
    thresholds = pp.nonprivate_threshold(scores, 0.1, per=labels)
    assert list(thresholds) == list(range(len(model.classes_)))
    shares = model.predict_proba(new[0])
    ours = pp.prediction_sets(shares, list(thresholds.values()))
    for number, threshold in thresholds.items():
        of = labels == number
        found, sets = theirs(model, (rows[of], labels[of]), new, "lac")
        assert threshold == pytest.approx(found.quantiles_[ALPHAS.index(0.1)], abs=1e-12)
        assert (ours[:, number] == sets[:, number, ALPHAS.index(0.1)]).all()


@pytest.fixture(scope="module")
def regression():
    rows, truth = load_diabetes(return_X_y=True)
    return rows[:150], truth[:150], rows[150:300], truth[150:300], rows[300:], truth[300:]


def test_residual(regression):
    train, height, rows, truth, new, _ = regression
    model, score = LinearRegression().fit(train, height), Residual(BOUND)
    mapie = SplitConformalRegressor(model, confidence_level=[1 - a for a in ALPHAS], prefit=True)
    _, intervals = mapie.conformalize(rows, truth).predict_interval(new)
    for place, alpha in enumerate(ALPHAS):
        threshold = pp.nonprivate_threshold(score.of_truth(model.predict(rows), truth), alpha)
        ours = pp.prediction_interval(model.predict(new), threshold_as_calibration(threshold, score))
        assert np.allclose(ours, intervals[:, :, place], atol=2e-6 * BOUND, rtol=0)


def test_cqr(regression):
    train, height, rows, truth, new, _ = regression
    quantiles = [QuantileRegressor(quantile=q, alpha=0).fit(train, height) for q in (0.05, 0.95, 0.5)]
    mapie = ConformalizedQuantileRegressor(quantiles, confidence_level=0.9, prefit=True)
    _, intervals = mapie.conformalize(rows, truth).predict_interval(new, symmetric_correction=True)
    score = Cqr(BOUND)
    lower_upper = [np.column_stack([one.predict(of) for one in quantiles[:2]]) for of in (rows, new)]
    threshold = pp.nonprivate_threshold(score.of_truth(lower_upper[0], truth), 0.1)
    ours = pp.prediction_interval(lower_upper[1], threshold_as_calibration(threshold, score))
    assert np.allclose(ours, intervals[:, :, 0], atol=3e-6 * BOUND, rtol=0)
