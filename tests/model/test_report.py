import numpy as np
import pytest

from ppsets_core.errors import InputError
from ppsets_core.model.report import report


def test_by_hand():
    probabilities = np.array([[0.9, 0.1], [0.6, 0.4], [0.3, 0.7], [0.2, 0.8]])
    measured = report(probabilities, np.array([0, 1, 1, 1]))
    assert measured.n == 4
    assert measured.accuracy == 0.75
    assert measured.recalls == pytest.approx((1, 2 / 3))
    assert measured.macro_recall == pytest.approx(5 / 6)
    assert measured.confusion.tolist() == [[1, 0], [1, 2]]
    assert measured.calibration_error == pytest.approx((0.1 + 0.6 + 0.3 + 0.2) / 4)
    assert [item.count for item in measured.reliability] == [1, 1, 1, 1]


def test_honest_probabilities_and_a_class_without_xrays():
    probabilities = np.tile([0.75, 0.25], (4, 1))
    assert report(probabilities, np.array([0, 0, 0, 1])).calibration_error == pytest.approx(0)
    measured = report(np.eye(3)[[0, 1]], np.array([0, 1]))
    assert np.isnan(measured.recalls[2])
    assert measured.macro_recall == 1


def test_labels_must_match_rows():
    with pytest.raises(InputError, match="one label per row"):
        report(np.eye(3), np.array([0]))
