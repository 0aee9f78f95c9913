"""X-rays as other machines and exports give them: seen alike, and recognised as before."""

import numpy as np
import pytest

from ppsets_core.model import load_model
from ppsets_core.xrays.frame import to_model_square
from ppsets_core.xrays.picture import read_picture
from tests.coronahack import CORONAHACK, needs_coronahack
from tests.drawn_xrays import draw_xrays
from tools.coronahack import read_coronahack
from tools.robustness import ALTERATIONS, measure

MOST_LOST = 0.02
ALIKE = {name: 0.05 for name in ALTERATIONS} | {
    "gamma 2.5": 0.15,
    "64 pixels": 0.1,
    "tilted by 10°": 0.35,
    "JPEG, quality 10": 0.1,
}


@pytest.mark.parametrize("name", ALTERATIONS)
def test_an_altered_xray_is_seen_much_as_it_was(name):
    (xray,) = draw_xrays(1, seed=5)
    plain = to_model_square(read_picture(ALTERATIONS["as it is"](xray.grey)).grey, 64)
    altered = to_model_square(read_picture(ALTERATIONS[name](xray.grey)).grey, 64)
    assert np.abs(plain - altered).mean() < ALIKE[name]


@needs_coronahack
def test_the_strongest_alterations_together_cost_at_most_two_points_of_accuracy():
    """On every eighth X-ray of the validation part; models/README.md has each alteration on 300."""
    folder = read_coronahack(CORONAHACK, "validation").part(slice(None, None, 8))
    model, sample = load_model(), [(xray, picture.grey) for xray, picture in folder.readable([])]
    plain, _ = measure(model, sample, ALTERATIONS["as it is"])
    lost = []
    for name in ("gamma 0.4", "gamma 2.5", "white border of 25%", "JPEG, quality 10", "64 pixels", "tilted by 10°"):
        right, flagged = measure(model, sample, ALTERATIONS[name])
        lost.append(plain[~flagged].mean() - right[~flagged].mean())
    assert np.mean(lost) <= MOST_LOST
    assert max(lost) <= 3 * MOST_LOST, "three more of 62 X-rays"
