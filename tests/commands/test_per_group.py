"""A promise for each diagnosis, or for each group of a column, on the command line."""

import json

import numpy as np
import pytest
from PIL import Image

from ppsets_core import Calibration, Ledger
from ppsets_core.__main__ import main
from ppsets_core.method.calibration_json import read_calibration
from tests.drawn_xrays import draw_xrays
from tests.model.chests import CLASSES

SITES = ("north", "south", "east")


@pytest.fixture
def scores(tmp_path, monkeypatch):
    """Normal X-rays are easy, viral ones hard; a record in three comes from each site."""
    monkeypatch.setenv("PPSETS_HOME", str(tmp_path / "home"))
    rng = np.random.default_rng(0)
    rows = ["site,label," + ",".join(CLASSES)]
    for number in range(900):
        label = number // 3 % 3
        other = rng.uniform(0, (0.5, 0.1, 0.9)[label])
        shares = np.full(3, other / 2)
        shares[label] = 1 - other
        rows.append(f"{SITES[number % 3]},{CLASSES[label]}," + ",".join(map(repr, shares.tolist())))
    path = tmp_path / "ward.csv"
    path.write_text("\n".join(rows))
    return path


def calibrated(scores, capsys, *options) -> Calibration:
    capsys.readouterr()
    command = ["calibrate", str(scores), "--epsilon", "2", "--budget", "8", "--json", *options]
    assert main(command) == 0
    return Calibration.from_json(capsys.readouterr().out)


def test_each_diagnosis_or_group_gets_a_threshold_and_all_together_are_charged_once(scores, capsys, tmp_path):
    drawn = calibrated(scores, capsys, "--per", "diagnosis")
    assert (drawn.per, drawn.classes, drawn.names, drawn.n) == ("diagnosis", CLASSES, CLASSES, 900)
    bacterial, normal, viral = drawn.thresholds
    assert normal < bacterial < viral
    account = Ledger(tmp_path / "home" / "ledger.sqlite").account("ward")
    assert account.spent == 2
    assert main(["ledger"]) == 0
    assert f"normal: {normal:.6g}" in capsys.readouterr().out
    drawn = calibrated(scores, capsys, "--per", "site", "--groups", "north, south")
    assert (drawn.per, drawn.groups, drawn.names, len(drawn.thresholds)) == ("site", 2, ("north", "south"), 2)
    assert all(0 < threshold <= 1 for threshold in drawn.thresholds)


def test_predict_takes_each_diagnosis_own_cutoff(scores, capsys, tmp_path):
    (tmp_path / "cal.json").write_text(calibrated(scores, capsys, "--per", "diagnosis").to_json(), encoding="utf-8")
    picture = tmp_path / "chest.png"
    Image.fromarray((draw_xrays(1, seed=1)[0].grey * 255).round().astype(np.uint8)).save(picture)
    assert main(["predict", str(picture), "--calibration", str(tmp_path / "cal.json"), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    drawn = read_calibration((tmp_path / "cal.json").read_text(encoding="utf-8"))
    assert answer["thresholds"] == dict(zip(CLASSES, drawn.thresholds, strict=True))
    (xray,) = answer["sets"]
    expected = {name for name in CLASSES if 1 - xray["probabilities"][name] <= answer["thresholds"][name]}
    assert set(xray["set"]) == expected
    assert any("with the same diagnosis" in note for note in answer["notes"])
    assert main(["predict", str(picture), "--calibration", str(tmp_path / "cal.json")]) == 0
    assert "at least its cutoff" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--per", "site"], "needs the names of the groups"),
        (["--per", "ward", "--groups", "a,b"], "no column 'ward'"),
        (["--per", "site", "--groups", "north,north"], "a name stands twice"),
        (["--per", "diagnosis", "--groups", "north"], "no groups"),
        (["--groups", "north,south"], "say so with per"),
        (["--per", "diagnosis", "--method", "paper"], "holds for all patients together only"),
        (["--per", "diagnosis", "--gamma", "0.5"], "gamma belongs to the paper's rule"),
    ],
)
def test_what_does_not_go_together_is_refused_before_anything_is_spent(scores, tmp_path, capsys, options, told):
    assert main(["calibrate", str(scores), "--epsilon", "1", "--budget", "5", *options]) == 2
    assert told in capsys.readouterr().err
    assert not (tmp_path / "home").exists()


def test_scores_without_diagnoses_cannot_promise_anything_for_each(scores, capsys):
    scores.write_text("score\n" + "\n".join(map(str, np.linspace(0, 1, 300))))
    assert main(["calibrate", str(scores), "--epsilon", "1", "--budget", "5", "--per", "diagnosis"]) == 2
    assert "ward.csv: a promise for each diagnosis needs the label" in capsys.readouterr().err
