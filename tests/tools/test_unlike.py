"""The figures that models/README.md gives of X-rays unlike the calibration's."""

import numpy as np
import pytest

from ppsets_core.data.bundled import bundled_scores
from ppsets_core.model import load_model, predict_folder
from ppsets_core.xrays import read_folder
from tests.coronahack import CORONAHACK, needs_coronahack
from tools.unlike import area_under_the_curve, flagged_and_alarmed

ADULTS = CORONAHACK.parent / "adults"


def test_the_area_under_the_curve_counts_ties_half():
    assert area_under_the_curve(np.array([0.1, 0.2]), np.array([0.3, 0.4])) == 1
    assert area_under_the_curve(np.array([0.1, 0.2]), np.array([0.1, 0.2])) == 0.5
    assert area_under_the_curve(np.array([0.1, 0.2]), np.array([0.0, 0.15, 0.2])) == (0 + 0.5 + 0.75) / 3


@needs_coronahack
@pytest.mark.skipif(not ADULTS.is_dir(), reason="needs the 500 X-rays of adults beside CoronaHack's")
def test_adults_are_told_from_the_held_out_children():
    adults = predict_folder(load_model(), read_folder(ADULTS / "images", labels=False)).novelty
    assert area_under_the_curve(bundled_scores().novelty, adults) >= 0.95
    flagged, alarmed = flagged_and_alarmed(bundled_scores("calibration"), adults)
    assert flagged >= 0.6
    assert alarmed[40] >= 0.99


def test_the_calibrations_own_are_hardly_flagged_and_never_alarmed_and_all_others_nearly_always():
    records = bundled_scores("calibration")
    flagged, alarmed = flagged_and_alarmed(records, bundled_scores().novelty)
    assert flagged <= 0.05
    assert max(alarmed.values()) < 0.001
    flagged, alarmed = flagged_and_alarmed(records, np.ones(5))
    assert flagged > 0.99
    assert min(alarmed.values()) > 0.99
