"""The figures that models/README.md gives of X-rays unlike the calibration's."""

import numpy as np

from ppsets_core.data.bundled import bundled_scores
from tools.unlike import area_under_the_curve, flagged_and_alarmed


def test_the_area_under_the_curve_counts_ties_half():
    assert area_under_the_curve(np.array([0.1, 0.2]), np.array([0.3, 0.4])) == 1
    assert area_under_the_curve(np.array([0.1, 0.2]), np.array([0.1, 0.2])) == 0.5
    assert area_under_the_curve(np.array([0.1, 0.2]), np.array([0.0, 0.15, 0.2])) == (0 + 0.5 + 0.75) / 3


def test_the_calibrations_own_are_hardly_flagged_and_never_alarmed_and_all_others_nearly_always():
    records = bundled_scores("calibration")
    flagged, alarmed = flagged_and_alarmed(records, bundled_scores().novelty)
    assert flagged <= 0.05
    assert max(alarmed.values()) < 0.001
    flagged, alarmed = flagged_and_alarmed(records, np.ones(5))
    assert flagged > 0.99
    assert min(alarmed.values()) > 0.99
