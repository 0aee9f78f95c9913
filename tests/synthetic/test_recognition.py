"""The bundled network recognises the synthetic X-rays: in all and in each class."""

import numpy as np
import pytest

from ppsets_core.model import load_model, predict
from ppsets_core.synthetic import draw_xrays
from ppsets_core.xrays.picture import Picture


@pytest.mark.statistical
def test_the_bundled_network_recognises_most_synthetic_xrays():
    model, xrays = load_model(), draw_xrays(120, seed=21)
    probabilities = predict(model, (Picture("synthetic", xray.grey, 0.0) for xray in xrays))
    labels = np.array([model.classes.index(xray.label) for xray in xrays])
    right = probabilities.argmax(axis=1) == labels
    assert right.mean() >= 0.6
    for k, name in enumerate(model.classes):
        assert right[labels == k].mean() >= 0.4, name
