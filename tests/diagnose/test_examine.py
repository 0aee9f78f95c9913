"""Classifying a folder: what is kept of each X-ray, what is flagged, what is left out."""

import numpy as np
import pytest
from PIL import Image

from ppsets_core.diagnose.xrays import examine
from ppsets_core.model import load_model, predict
from ppsets_core.xrays import read_folder, read_picture
from tests.drawn_xrays import draw_xrays


@pytest.fixture(scope="module")
def model():
    return load_model()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("xrays")
    for number, xray in enumerate(draw_xrays(2, 0)):
        Image.fromarray((xray.grey * 255).astype(np.uint8)).save(path / f"{number}.png")
    photo = np.random.default_rng(0).integers(0, 255, (200, 200, 3), dtype=np.uint8)
    Image.fromarray(photo).save(path / "photo.png")
    (path / "0-torn.png").write_bytes((path / "0.png").read_bytes()[:500])
    return path


def test_every_picture_is_classified_and_the_odd_one_flagged(model, folder):
    told = []
    found = examine(model, read_folder(folder, labels=False), progress=lambda *step: told.append(step))
    assert found.records.identifiers["file"].tolist() == ["0.png", "1.png", "photo.png"]
    assert [bool(doubt) for doubt in found.doubts] == [False, False, True]
    assert [refused.name for refused in found.refused] == ["0-torn.png"]
    assert told == [(0, 4), (2, 4), (2, 4), (3, 4), (4, 4), (4, 4)], "the torn file is passed before the first picture"
    assert ((found.records.novelty >= 0) & (found.records.novelty <= 1)).all()
    assert found.records.model == model.fingerprint
    direct = predict(model, [read_picture(folder / "1.png")])
    assert found.records.probabilities[1] == pytest.approx(direct[0], abs=1e-6)


def test_progress_may_cancel(model, folder):
    class Stop(Exception):
        pass

    def stop(done, total):
        raise Stop

    with pytest.raises(Stop):
        examine(model, read_folder(folder, labels=False), progress=stop)
