"""`ppsets score`, `calibrate`, `predict`, each from the file that the one before wrote: what is known travels along."""

import pytest

from ppsets_core import Calibration
from ppsets_core.__main__ import main
from ppsets_core.model import load_model, save_model
from tests.model.chests import CLASSES, png_folder, small_model

REFUSAL = "made with another model's scores"


@pytest.fixture
def weights(tmp_path):
    paths = [tmp_path / f"{name}.safetensors" for name in ("one", "other")]
    for seed, path in enumerate(paths):
        save_model(small_model(seed), path)
    return paths


def test_a_calibration_from_scored_xrays_is_refused_when_other_weights_predict(weights, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PPSETS_HOME", str(tmp_path / "home"))
    one, other = weights
    xrays = png_folder(tmp_path / "xrays", 10)
    scores, out = tmp_path / "ward.csv", tmp_path / "calibration.json"
    assert main(["score", str(xrays), "--weights", str(one), "--out", str(scores)]) == 0
    assert main(["calibrate", str(scores), "--epsilon", "5", "--budget", "5", "--out", str(out)]) == 0
    calibration = Calibration.from_json(out.read_text(encoding="utf-8"))
    assert not calibration.is_trivial
    assert (calibration.model, calibration.classes) == (load_model(one).fingerprint, CLASSES)
    picture = str(next((xrays / "normal").iterdir()))
    for path, answer in ((one, 0), (other, 2)):
        capsys.readouterr()
        command = ["predict", picture, "--calibration", str(out), "--weights", str(path)]
        assert main(command) == answer
        assert (REFUSAL in capsys.readouterr().err) is (answer == 2)


def test_scores_of_two_models_in_one_file_are_refused(weights, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PPSETS_HOME", str(tmp_path / "home"))
    xrays = png_folder(tmp_path / "xrays", 2)
    lines = []
    for number, path in enumerate(weights):
        out = tmp_path / f"{number}.csv"
        assert main(["score", str(xrays), "--weights", str(path), "--out", str(out)]) == 0
        lines += out.read_text().splitlines()[number:]
    (tmp_path / "both.csv").write_text("\n".join(lines))
    assert main(["calibrate", str(tmp_path / "both.csv"), "--epsilon", "5", "--budget", "5"]) == 2
    assert "calibrate with the scores of one model" in capsys.readouterr().err
