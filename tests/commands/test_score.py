"""`ppsets score`."""

import csv
import json
import shutil

import numpy as np
import pytest

from ppsets_core import read_scores
from ppsets_core.__main__ import main
from ppsets_core.model import load_model, predict_folder, save_model
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
    told = capsys.readouterr()
    summary = json.loads(told.out)
    assert summary["scored"] == 1
    assert rows_of(out)[0]["patient"] == "p1"
    reasons = {item["name"]: item["reason"] for item in summary["refused"]}
    assert "tuberculosis" in reasons["normal/normal-001.png"]
    assert "absent.png" in reasons
    assert "left out absent.png" in told.err


def test_nothing_to_score_is_one_sentence(xrays, tmp_path, capsys):
    small, out = str(tmp_path / "small.safetensors"), str(tmp_path / "scores.csv")
    save_model(small_model(), small)
    labels, flat = tmp_path / "labels.csv", shutil.copytree(xrays / "normal", tmp_path / "flat")
    labels.write_text("file,label,split\nnormal-000.png,tuberculosis,a\n")
    for command, told in [
        (["score", str(flat), "--out", out], "No X-ray has a label"),
        (["score", str(xrays), "--labels", str(labels), "--out", out], "No X-ray has a label"),
        (["score", str(xrays), "--labels", str(labels), "--split", "z", "--out", out], "no row of split 'z'"),
        (["score", str(xrays), "--split", "a", "--out", out], "--labels"),
        (["score", str(tmp_path / "absent"), "--out", out], "absent"),
        (["score", str(xrays), "--out", str(tmp_path / "absent" / "s.csv")], "no folder for"),
        (["score", str(xrays), "--out", str(tmp_path / "s.parquet")], "written as CSV"),
        (["score", str(xrays), "--labels", str(labels), "--out", str(labels)], "exists; choose another"),
        (["score", str(xrays), "--weights", "evil.pth", "--out", out], "pickle"),
    ]:
        weights = [] if "--weights" in command else ["--weights", small]
        assert main([*command, *weights]) == 2
        error = capsys.readouterr().err
        assert told in error
        assert "Traceback" not in error
