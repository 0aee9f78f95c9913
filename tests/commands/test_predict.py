"""`ppsets predict`."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from ppsets_core import Records, calibrate, plan, simulate
from ppsets_core.__main__ import main
from ppsets_core.diagnose.novelty import CALIBRATIONS, OUTSIDE, TRAINED_ON
from ppsets_core.model import load_model, predict
from ppsets_core.xrays import read_picture
from tests.drawn_xrays import draw_xrays
from tests.reports.reading import Read


def draw_into(folder: Path, xrays: int) -> Path:
    for number, xray in enumerate(draw_xrays(xrays, seed=1)):
        Image.fromarray(xray.pixels).save(folder / f"chest-{number}.png")
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = draw_into(tmp_path_factory.mktemp("predict"), 3)
    noise = np.random.default_rng(0).integers(0, 255, (200, 200, 3), dtype=np.uint8)
    Image.fromarray(noise).save(folder / "photo.png")
    (folder / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\nnothing")
    scores = np.linspace(0, 0.8, 1000)
    simulated = simulate(scores, plan(len(scores), 0.1, 5.0), np.random.default_rng(0))
    (folder / "simulated.json").write_text(simulated.to_json(), encoding="utf-8")
    (folder / "trivial.json").write_text(calibrate(scores[:5], 0.1, 0.1).to_json(), encoding="utf-8")
    return folder


def images(folder) -> list[str]:
    return [str(path) for path in sorted(folder.glob("*.png"))]


def test_json_has_the_ranked_sets_of_the_library(folder, capsys):
    assert main(["predict", *images(folder), "--calibration", str(folder / "simulated.json"), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["simulated"], answer["trivial"]) == (True, False)
    assert [item["file"] for item in answer["sets"]] == ["chest-0.png", "chest-1.png", "chest-2.png", "photo.png"]
    model = load_model()
    for item in answer["sets"]:
        expected = predict(model, [read_picture(folder / item["file"])])[0]
        assert [item["probabilities"][name] for name in model.classes] == pytest.approx(expected.tolist(), abs=1e-5)
        ranked = sorted(item["probabilities"], key=item["probabilities"].get, reverse=True)
        members = [name for name in ranked if item["probabilities"][name] >= answer["cutoff"]]
        assert item["set"] == (None if item["reading"] == "flagged" else members)
    assert [item["name"] for item in answer["refused"]] == ["broken.png"]
    photo = answer["sets"][-1]
    assert photo["reading"] == "flagged"
    assert photo["flagged because"]
    counts = answer["counts"]
    assert counts["flagged"] == sum(item["reading"] == "flagged" for item in answer["sets"])
    assert sum(counts.values()) == 4


def test_unfamiliar_xrays_are_marked_and_raise_the_alarm(tmp_path, capsys):
    scores, model = np.linspace(0, 0.8, 1000), load_model()
    records = Records("", scores, model.classes, model=model.fingerprint, novelty=scores)
    chosen = plan(1000, 0.1, 5.0, novelty_share=0.2, novelty_m=10**6)
    drawn = simulate(records, chosen, np.random.default_rng(0))
    for threshold, unfamiliar in ((1e-6, True), (1 - 1e-6, False)):
        path = tmp_path / f"{unfamiliar}.json"
        path.write_text(dataclasses.replace(drawn, drawn=(drawn.threshold, threshold)).to_json(), encoding="utf-8")
        asked = ["predict", *images(draw_into(tmp_path, 5)), "--calibration", str(path)]
        assert main([*asked, "--json", "--report", str(tmp_path / f"{unfamiliar}.html")]) == 0
        answer = json.loads(capsys.readouterr().out)
        assert [item["unfamiliar"] for item in answer["sets"]] == [unfamiliar] * 5
        novelty = answer["novelty"]
        public, own = novelty["thresholds"]
        assert public["compared with"] == TRAINED_ON
        assert own == {
            "threshold": threshold,
            "compared with": CALIBRATIONS,
            "unlike": 5 * unfamiliar,
            "expected": pytest.approx(0.25),
        }
        assert (novelty["of"], novelty["alarm"]) == (5, unfamiliar)
        assert any(f"5 of 5 X-rays are unlike {CALIBRATIONS}" in note for note in answer["notes"]) is unfamiliar
        assert main(asked) == 0
        assert capsys.readouterr().out.count(f"  [{OUTSIDE}") == 5 * unfamiliar
        assert novelty["note"] in Read((tmp_path / f"{unfamiliar}.html").read_text(encoding="utf-8")).words


def test_the_table_says_what_the_sets_are_and_are_not(folder, capsys):
    assert main(["predict", *images(folder), "--calibration", str(folder / "simulated.json")]) == 0
    captured = capsys.readouterr()
    for words in (
        "chest-2.png",
        "is a simulation",
        "The set lists every diagnosis",
        "Coverage is an average",
        "flagged",
    ):
        assert words in captured.out
    assert captured.out.count("Not a medical device") == 1
    assert "left out broken.png" in captured.err


def test_a_trivial_calibration_is_marked_and_gives_every_class(folder, capsys):
    one = str(folder / "chest-0.png")
    assert main(["predict", one, "--calibration", str(folder / "trivial.json"), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["trivial"]
    assert len(answer["sets"][0]["set"]) == 3
    assert any("had too few records" in note for note in answer["notes"])
