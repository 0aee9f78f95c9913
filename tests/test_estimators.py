"""Estimators around any model: MAPIE's verbs and shapes, one release, with a ledger or said to be without."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression, QuantileRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import ppsets_core as pp

RNG = np.random.default_rng(0)
N = 1200
X = RNG.normal(size=(N, 4))
TRUTH = np.array(["bacterial", "normal", "viral"])[np.argmax(X[:, :3] + RNG.gumbel(size=(N, 3)), axis=1)]
MODEL = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[:400], TRUTH[:400])
CAL, NEW = slice(400, 900), slice(900, None)
HEIGHT = X @ [3, 2, 1, 0] + RNG.normal(size=N)
LINE = LinearRegression().fit(X[:400], HEIGHT[:400])
quietly = pytest.mark.filterwarnings("ignore:This release costs")


@quietly
@pytest.mark.parametrize("score", ["lac", "aps", "raps"])
@pytest.mark.parametrize("per", [None, "diagnosis"])
def test_sets_have_mapies_shapes_and_cover(score, per):
    private = pp.PrivateConformalClassifier(MODEL, 0.1, 2.0, score, per).conformalize(X[CAL], TRUTH[CAL])
    likeliest, sets = private.predict_set(X[NEW])
    assert (likeliest == MODEL.predict(X[NEW])).all()
    assert (private.predict(X[NEW]) == likeliest).all()
    assert (sets.shape, sets.dtype) == ((300, 3, 1), bool)
    assert sets[np.arange(300), np.searchsorted(MODEL.classes_, TRUTH[NEW]), 0].mean() > 0.8
    assert (private.calibration.classes, private.calibration.score.name) == (("bacterial", "normal", "viral"), score)
    assert (sets[:, :, 0] == pp.prediction_sets(MODEL.predict_proba(X[NEW]), private.calibration)).all()


@quietly
@pytest.mark.parametrize("classes", [None, ["bacterial", "normal", "viral"]])
def test_a_function_is_a_model_too_and_a_frame_names_its_classes(classes):
    def ask(rows):
        shares = MODEL.predict_proba(rows)
        return shares if classes else pd.DataFrame(shares, columns=MODEL.classes_)

    private = pp.PrivateConformalClassifier(ask, epsilon=5.0, classes=classes).conformalize(X[CAL], TRUTH[CAL])
    likeliest, sets = private.predict_set(X[NEW])
    assert set(likeliest) <= set(TRUTH)
    assert sets.shape == (300, 3, 1)


@quietly
@pytest.mark.parametrize("names", [[1, 2, 3], [0, 1, 2], [False, True], [0.0, 1.0, 2.0], ["2", "1", "0"]])
def test_classes_are_what_the_model_calls_them(names):
    codes = RNG.integers(0, len(names), N)
    labels = np.array(names)[codes]
    rows = np.eye(len(names))[codes] + RNG.normal(size=(N, len(names)))
    model = LogisticRegression().fit(rows[:400], labels[:400])
    private = pp.PrivateConformalClassifier(model, epsilon=5.0).conformalize(rows[CAL], labels[CAL])
    likeliest, sets = private.predict_set(rows[NEW])
    assert (likeliest == model.predict(rows[NEW])).all()
    assert sets[np.arange(300), np.searchsorted(model.classes_, labels[NEW]), 0].mean() > 0.8


@quietly
def test_intervals_have_mapies_shapes_and_cover():
    private = pp.PrivateConformalRegressor(LINE, 0.1, 2.0, bound=10.0).conformalize(X[CAL], HEIGHT[CAL])
    predicted, intervals = private.predict_interval(X[NEW])
    assert np.allclose(predicted, LINE.predict(X[NEW]))
    assert np.allclose(private.predict(X[NEW]), predicted)
    assert intervals.shape == (300, 2, 1)
    low, high = intervals[:, :, 0].T
    assert ((low <= HEIGHT[NEW]) & (HEIGHT[NEW] <= high)).mean() > 0.8
    assert np.allclose(high - low, (2 * private.calibration.threshold + 2e-6) * 10)
    assert private.calibration.score == pp.scores.Residual(10.0)


@quietly
def test_two_quantiles_are_conformalised():
    both = [QuantileRegressor(quantile=q, alpha=0).fit(X[:400], HEIGHT[:400]) for q in (0.05, 0.95)]
    private = pp.PrivateConformalRegressor(both, 0.1, 2.0, bound=10.0, score="cqr").conformalize(X[CAL], HEIGHT[CAL])
    predicted, intervals = private.predict_interval(X[NEW])
    assert np.allclose(predicted, np.mean([model.predict(X[NEW]) for model in both], axis=0))
    assert 0.8 < ((intervals[:, 0, 0] <= HEIGHT[NEW]) & (HEIGHT[NEW] <= intervals[:, 1, 0])).mean() < 1
    with_middle = pp.PrivateConformalRegressor([*both, LINE], bound=10.0, score="cqr")
    with_middle.calibration_ = private.calibration
    assert np.allclose(with_middle.predict_interval(X[NEW])[0], LINE.predict(X[NEW]))


@quietly
def test_too_few_records_and_unknown_groups_get_the_whole_line():
    few = pp.PrivateConformalRegressor(LINE, bound=10.0).conformalize(X[:9], HEIGHT[:9])
    assert np.isinf(few.predict_interval(X[NEW])[1]).all()
    sites = np.where(np.arange(N) % 2, "north", "south")
    each = pp.PrivateConformalRegressor(LINE, 0.1, 5.0, bound=10.0, per="site", groups=["north", "south"])
    each.conformalize(X[CAL], HEIGHT[CAL], groups=sites[CAL])
    widths = np.ptp(each.predict_interval(X[NEW], groups=["north", "south", *["east"] * 298])[1][:, :, 0], axis=1)
    assert np.isfinite(widths[:2]).all()
    assert np.isinf(widths[2:]).all()
    with pytest.raises(pp.InputError, match="say which site"):
        each.predict_interval(X[NEW])


def test_a_ledger_counts_and_without_one_it_is_said(tmp_path):
    ledger = pp.Ledger(tmp_path / "ledger.sqlite")
    account = ledger.open_account("ward", 3)
    private = pp.PrivateConformalClassifier(MODEL)
    names = np.arange(500) // 2
    private.conformalize(X[CAL], TRUTH[CAL], patients=names, ledger=ledger, account=account)
    assert (private.calibration.unit, private.calibration.n, private.calibration.dataset) == ("patient", 250, "ward")
    assert ledger.account("ward").spent == 1
    with pytest.warns(UserWarning, match="costs ε = 1 and no ledger counts it"):
        private.conformalize(X[CAL], TRUTH[CAL])
    with pytest.raises(pp.InputError, match="belong together"):
        private.conformalize(X[CAL], TRUTH[CAL], ledger=ledger)
    with pytest.raises(pp.BudgetError):
        pp.PrivateConformalClassifier(MODEL, epsilon=2.5).conformalize(
            X[CAL], TRUTH[CAL], patients=names, ledger=ledger, account=account
        )


@pytest.mark.parametrize(
    ("use", "what"),
    [
        (lambda: pp.PrivateConformalClassifier(MODEL).predict_set(X), "call conformalize"),
        (lambda: pp.PrivateConformalClassifier(MODEL, score="own"), "not computed from probabilities"),
        (lambda: pp.PrivateConformalClassifier("model").conformalize(X, TRUTH), "no predict_proba and is no function"),
        (lambda: pp.PrivateConformalClassifier(MODEL).conformalize(X, TRUTH[1:]), "one label for each"),
        (lambda: pp.PrivateConformalClassifier(MODEL).conformalize(X, ["flu", *TRUTH[1:]]), "row 1: the label is"),
        (lambda: pp.PrivateConformalRegressor(LINE, bound=0), "above 0"),
        (lambda: pp.PrivateConformalRegressor(LINE, bound=np.inf), "above 0"),
        (lambda: pp.PrivateConformalRegressor(LINE, bound=1, score="lac"), "no parameter 'bound'"),
        (lambda: pp.PrivateConformalRegressor(LINE, bound=1, score="cqr").conformalize(X, HEIGHT), r"shape \(N, 2\)"),
        (lambda: pp.PrivateConformalRegressor(LINE, bound=1).conformalize(X, HEIGHT[1:]), "one number for each"),
        (lambda: pp.PrivateConformalRegressor(LINE, bound=1).conformalize(X, np.full(N, np.nan)), "y: a value is"),
        (lambda: pp.PrivateConformalRegressor(lambda x: x[:, 0] / 0, bound=1).conformalize(X, HEIGHT), "not a finite"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_what_is_wrong_is_said_before_anything_is_spent(use, what):
    with pytest.raises(pp.InputError, match=what):
        use()
