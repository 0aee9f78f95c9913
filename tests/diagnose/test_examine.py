"""Classifying a folder: what is kept of each X-ray, what is flagged, what is left out."""

import numpy as np
import pytest

from ppsets_core.diagnose.xrays import examine
from ppsets_core.model import load_model, predict
from ppsets_core.xrays import read_folder, read_picture
from tests.drawn_xrays import draw_xrays
from tests.xrays.samples import png


def test_every_picture_is_classified_and_the_odd_one_flagged(tmp_path):
    for number, xray in enumerate(draw_xrays(2, 0)):
        (tmp_path / f"{number}.png").write_bytes(png(xray.pixels))
    (tmp_path / "photo.png").write_bytes(png(np.random.default_rng(0).integers(0, 255, (200, 200, 3), dtype=np.uint8)))
    (tmp_path / "0-torn.png").write_bytes((tmp_path / "0.png").read_bytes()[:500])
    model, told = load_model(), []
    found = examine(model, read_folder(tmp_path, labels=False), progress=lambda *step: told.append(step))
    assert found.records.identifiers["file"].tolist() == ["0.png", "1.png", "photo.png"]
    assert [bool(doubt) for doubt in found.doubts] == [False, False, True]
    assert [refused.name for refused in found.refused] == ["0-torn.png"]
    assert told == [(0, 4), (2, 4), (2, 4), (3, 4), (4, 4), (4, 4)], "the torn file is passed before the first picture"
    assert ((found.records.novelty >= 0) & (found.records.novelty <= 1)).all()
    assert found.records.model == model.fingerprint
    direct = predict(model, [read_picture(tmp_path / "1.png")])
    assert found.records.probabilities[1] == pytest.approx(direct[0], abs=1e-6)
