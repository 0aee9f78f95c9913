"""Every score keeps the promise with every rule, together and within each class or group, on data that is not ours."""

from functools import cache

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.linear_model import LinearRegression, LogisticRegression, QuantileRegressor
from sklearn.preprocessing import scale

import ppsets_core as pp
from ppsets_core.method.rules import RULES
from ppsets_core.method.simulate import Setting, random_splits
from ppsets_core.scores import Cqr, Raps, Residual

pytestmark = pytest.mark.statistical
SPLITS, ALPHA, EPSILON = 1000, 0.1, 1.0
SETTINGS = [*(Setting(ALPHA, EPSILON, rule) for rule in RULES), Setting(ALPHA, EPSILON, per="diagnosis")]
CLASSIFICATION = {"digits": (load_digits, 800), "breast cancer": (load_breast_cancer, 250)}


@cache
def probabilities(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Of a model that is often unsure, for records that it has not learnt from."""
    rows, labels = CLASSIFICATION[name][0](return_X_y=True)
    rng = np.random.default_rng(0)
    order = rng.permutation(len(rows))
    rows, labels = (scale(rows) + rng.normal(0, 1, rows.shape))[order], labels[order]
    fifth = len(rows) // 5
    model = LogisticRegression(C=0.01, max_iter=1000).fit(rows[:fifth], labels[:fifth])
    return model.predict_proba(rows[fifth:]), labels[fifth:]


def assert_at_least(covered: np.ndarray, promised: float) -> None:
    """On average over splits, within four standard errors."""
    covered = covered[~np.isnan(covered)]
    assert covered.mean() >= promised - 4 * covered.std(ddof=1) / np.sqrt(len(covered)) - 1e-12


@pytest.mark.parametrize("score", ["lac", "aps", "raps", Raps(0.5, 0)], ids=str)
@pytest.mark.parametrize("name", CLASSIFICATION)
def test_sets_cover(name, score):
    shares, labels = probabilities(name)
    n, rng = CLASSIFICATION[name][1], np.random.default_rng(1)
    *together, each = random_splits(shares, labels, n, SETTINGS, SPLITS, rng, score=score)
    for found in together:
        for outcome in (found.private, found.nonprivate):
            assert_at_least(outcome.coverage, 1 - ALPHA)
        if name == "digits" and found.plan.method == "sharp":
            assert found.private.coverage.mean() < 0.95, "and not by listing everything"
    for outcome in (each.private, each.nonprivate):
        for of_class in outcome.coverage_by_class.T:
            assert_at_least(of_class, 1 - ALPHA)


def test_a_threshold_of_one_score_applied_as_another_would_be_noticed():
    """As a column of `top-k` scores was, which `predict` took for 1 − p."""
    shares, labels = probabilities("digits")
    rank = np.argsort(np.argsort(-shares, axis=1), axis=1) / shares.shape[1]
    scores, covered = rank[np.arange(len(labels)), labels], []
    rng = np.random.default_rng(1)
    for _ in range(SPLITS):
        order = rng.permutation(len(labels))
        threshold = pp.nonprivate_threshold(scores[order[:800]], ALPHA)
        new = order[800:]
        covered.append((1 - shares[new, labels[new]] <= threshold).mean())
    with pytest.raises(AssertionError):
        assert_at_least(np.array(covered), 1 - ALPHA)


@cache
def predictions() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of a line and of two quantiles, and the truth, for records that they have not learnt from."""
    rows, truth = load_diabetes(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(rows))
    rows, truth = rows[order], truth[order]
    line = LinearRegression().fit(rows[:90], truth[:90])
    quantiles = [QuantileRegressor(quantile=q, alpha=0.01).fit(rows[:90], truth[:90]) for q in (0.05, 0.95)]
    return line.predict(rows[90:]), np.column_stack([one.predict(rows[90:]) for one in quantiles]), truth[90:]


@pytest.mark.parametrize("bound", [100.0, 400.0])
@pytest.mark.parametrize("kind", [Residual, Cqr])
@pytest.mark.parametrize(("rule", "per"), [*((rule, None) for rule in RULES), ("sharp", "half")])
def test_intervals_cover(kind, bound, rule, per):
    """A bound that many residuals exceed costs whole lines, never coverage."""
    line, quantiles, truth = predictions()
    score, n, rng = kind(bound), 250, np.random.default_rng(2)
    predicted = line if kind is Residual else quantiles
    scores = score.of_truth(predicted, truth)
    halves = np.where(line > np.median(line), "high", "low")
    groups = None if per is None else ["low", "high"]
    chosen = pp.plan(n, ALPHA, EPSILON, method=rule, per=per, groups=groups)
    covered = np.full((SPLITS, 2), np.nan)
    for split in range(SPLITS):
        order = rng.permutation(len(truth))
        used, new = order[:n], order[n:]
        of = None if per is None else {"half": halves[used]}
        drawn = pp.simulate(pp.records(scores=scores[used], groups=of, score=score), chosen, rng)
        low, high = pp.prediction_interval(predicted[new], drawn, groups=None if per is None else halves[new]).T
        inside = (low <= truth[new]) & (truth[new] <= high)
        assert (inside >= (scores[new] <= min(drawn.thresholds))).all()
        covered[split] = [inside[halves[new] == one].mean() for one in ("low", "high")] if per else inside.mean()
    for part in covered.T:
        assert_at_least(part, 1 - ALPHA)
