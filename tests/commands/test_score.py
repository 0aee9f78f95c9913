"""`ppsets score`, and what travels from there to `calibrate` and `predict`."""

import csv
import json

import numpy as np
import pytest

from ppsets_core import Calibration, read_scores
from ppsets_core.__main__ import main
from ppsets_core.model import load_model, predict_folder, save_model
from ppsets_core.places import ASSETS
from ppsets_core.xrays import read_folder
from tests.model.chests import CLASSES, png_folder, small_model


@pytest.fixture(scope="module")
def xrays(tmp_path_factory):
    return png_folder(tmp_path_factory.mktemp("score") / "xrays", 3)


def rows_of(path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_the_scores_are_the_models_probabilities_and_can_calibrate(xrays, tmp_path, capsys):
    out = tmp_path / "scores.csv"
    assert main(["score", str(xrays), "--out", str(out)]) == 0
    assert "9 X-rays scored, 0 left out" in capsys.readouterr().out
    rows = rows_of(out)
    assert list(rows[0]) == ["file", "label", "model", "novelty", *CLASSES]
    expected = predict_folder(load_model(), read_folder(xrays))
    assert [row["file"] for row in rows] == list(expected.names)
    written = np.array([[float(row[name]) for name in CLASSES] for row in rows])
    assert np.array_equal(written, expected.probabilities)
    own = [1 - float(row[row["label"]]) for row in rows]
    records = read_scores(out)
    assert np.array_equal(records.novelty, expected.novelty)
    assert np.allclose(records.scores, own)
    assert (records.model, records.classes) == (load_model().fingerprint, CLASSES)


def test_what_is_left_out_is_told_and_the_rest_is_scored(xrays, tmp_path, capsys):
    labels = tmp_path / "labels.csv"
    labels.write_text(
        "file,label,patient,split\nnormal-000.png,normal,p1,a\nnormal-001.png,tuberculosis,p2,a\n"
        "normal-002.png,normal,p3,b\nabsent.png,normal,p4,a\n"
    )
    out = tmp_path / "scores.csv"
    command = ["score", str(xrays), "--labels", str(labels), "--split", "a", "--out", str(out), "--json"]
    assert main(command) == 0
    captured = capsys.readouterr()
    summary = json.loads(captured.out)
    assert summary["scored"] == 1
    assert rows_of(out)[0]["patient"] == "p1"
    reasons = {item["name"]: item["reason"] for item in summary["refused"]}
    assert "tuberculosis" in reasons["normal/normal-001.png"]
    assert "absent.png" in reasons
    assert "left out absent.png" in captured.err


def test_x_rays_that_the_bundled_model_learnt_from_are_left_out_with_the_reason(tmp_path, capsys):
    xrays = png_folder(tmp_path / "xrays", 2)
    rows = (ASSETS / "coronahack_split.csv").read_text().splitlines()
    learnt = next(row.split(",")[0] for row in rows if row.endswith("train"))
    first = xrays / "normal" / "normal-000.png"
    first.rename(first.with_name(f"{learnt}.png"))
    assert main(["score", str(xrays), "--out", str(tmp_path / "s.csv")]) == 0
    captured = capsys.readouterr()
    assert "5 X-rays scored, 1 left out" in captured.out
    assert "that the bundled model was trained on" in captured.err


def test_a_calibration_from_scored_xrays_is_refused_when_other_weights_predict(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PPSETS_HOME", str(tmp_path / "home"))
    one, other = weights = [str(tmp_path / f"{name}.safetensors") for name in ("one", "other")]
    for seed, path in enumerate(weights):
        save_model(small_model(seed), path)
    xrays, scores, out = png_folder(tmp_path / "xrays", 10), str(tmp_path / "ward.csv"), tmp_path / "calibration.json"
    assert main(["score", str(xrays), "--weights", one, "--out", scores]) == 0
    assert main(["calibrate", scores, "--epsilon", "5", "--budget", "5", "--out", str(out)]) == 0
    calibration = Calibration.from_json(out.read_text(encoding="utf-8"))
    assert not calibration.is_trivial
    assert (calibration.model, calibration.classes) == (load_model(one).fingerprint, CLASSES)
    picture = str(next((xrays / "normal").iterdir()))
    for path, answer in ((one, 0), (other, 2)):
        capsys.readouterr()
        assert main(["predict", picture, "--calibration", str(out), "--weights", path]) == answer
        assert ("made with another model's scores" in capsys.readouterr().err) is (answer == 2)
