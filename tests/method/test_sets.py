"""Sets and their evaluation."""

import numpy as np
import pytest

import ppsets_core as pp
from ppsets_core.method.check import clopper_pearson

PROBABILITIES = np.array([[0.7, 0.2, 0.1], [0.4, 0.35, 0.25], [0.34, 0.33, 0.33], [0.1, 0.1, 0.8]])
LABELS = np.array([0, 1, 2, 0])
CLASSES = ("bacterial", "normal", "viral")
SCORES = np.linspace(0, 0.8, 500)
RECORDS = pp.Records("ward", SCORES, CLASSES)
DRAWN = {
    "release": pp.calibrate(RECORDS, 0.1, 5.0),
    "simulation": pp.simulate(RECORDS, pp.plan(500, 0.1, 5.0), np.random.default_rng(0)),
}


def test_the_cutoff_is_inclusive():
    assert pp.prediction_sets([[0.75, 0.25]], 0.25).tolist() == [[True, False]]
    assert pp.prediction_sets([[0.75, 0.25]], 0.2499).tolist() == [[False, False]]


@pytest.mark.parametrize("drawn", DRAWN.values(), ids=DRAWN)
def test_a_calibration_cuts_where_its_threshold_does(drawn):
    sets = pp.prediction_sets(PROBABILITIES, drawn.threshold)
    assert (pp.prediction_sets(PROBABILITIES, drawn) == sets).all()
    assert (pp.prediction_sets(PROBABILITIES, drawn, classes=CLASSES) == sets).all()
    assert pp.ranked_sets(PROBABILITIES, drawn) == pp.ranked_sets(PROBABILITIES, drawn.threshold)
    by_hand, measured = pp.evaluate(PROBABILITIES, LABELS, drawn.threshold), pp.evaluate(PROBABILITIES, LABELS, drawn)
    assert (measured.coverage, measured.mean_size) == (by_hand.coverage, by_hand.mean_size)


@pytest.mark.parametrize("drawn", DRAWN.values(), ids=DRAWN)
@pytest.mark.parametrize("use", [pp.prediction_sets, pp.ranked_sets, lambda p, c, **k: pp.evaluate(p, [0], c, **k)])
@pytest.mark.parametrize(
    ("probabilities", "classes", "what"),
    [
        ([[0.5, 0.5]], None, "is for 3 classes and there are probabilities of 2"),
        ([[0.25, 0.25, 0.25, 0.25]], None, "is for 3 classes and there are probabilities of 4"),
        ([[0.5, 0.5]], ("normal", "viral"), r"is for 3 classes .* of 2 \(normal, viral\)"),
        ([[0.5, 0.25, 0.25]], ("cat", "dog", "horse"), "cat, dog, horse.* Use the calibration of that model"),
    ],
)
def test_probabilities_of_other_classes_are_refused_by_number_and_by_name(drawn, use, probabilities, classes, what):
    with pytest.raises(pp.InputError, match=what):
        use(probabilities, drawn, classes=classes)


def test_a_calibration_of_bare_scores_knows_no_classes_and_refuses_none():
    drawn = pp.calibrate(SCORES, 0.1, 5.0)
    assert pp.prediction_sets([[0.9, 0.1]], drawn, classes=("cat", "dog")).shape == (1, 2)
    assert pp.prediction_sets(PROBABILITIES, drawn, classes=CLASSES).shape == (4, 3)


def test_ranked_by_descending_probability():
    assert pp.ranked_sets(PROBABILITIES, 0.7) == [[0], [0, 1], [0, 1, 2], [2]]
    assert pp.ranked_sets([[0.1, 0.6, 0.3]], 0.9) == [[1, 2, 0]]


def test_evaluation_by_hand():
    e = pp.evaluate(PROBABILITIES, LABELS, 0.7)
    assert e.coverage == 0.75
    assert e.mean_size == 7 / 4
    assert e.size_counts.tolist() == [0, 2, 1, 1]
    assert e.coverage_by_class.tolist() == [0.5, 1.0, 1.0]
    assert e.coverage_by_size[1:].tolist() == [0.5, 1.0, 1.0]
    assert np.isnan(e.coverage_by_size[0])
    assert (e.records, e.covered) == (4, 3)
    assert e.interval == clopper_pearson(3, 4)


@pytest.mark.parametrize("threshold", [-0.1, 1.1, np.nan, "0.5", None])
def test_bad_thresholds_are_refused(threshold):
    with pytest.raises(pp.InputError, match="threshold"):
        pp.prediction_sets(PROBABILITIES, threshold)
