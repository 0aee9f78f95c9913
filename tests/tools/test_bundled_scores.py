import csv
from pathlib import Path

import numpy as np

from ppsets_core.model import load_model, predict_folder, save_model
from ppsets_core.model.report import bundled_report, report
from tests.coronahack import CORONAHACK, needs_coronahack
from tests.model.chests import CLASSES, small_model
from tools import check_bundle
from tools.coronahack import read_coronahack

ROOT = Path(__file__).resolve().parents[2]


def bundled() -> list[list[str]]:
    with (ROOT / "assets" / "coronahack_softmax.csv").open(newline="") as file:
        return list(csv.reader(file))


def probabilities(rows: list[list[str]]) -> np.ndarray:
    return np.array([row[5:] for row in rows], dtype=np.float64)


def test_they_are_the_1500_held_out_xrays_without_names():
    header, *rows = bundled()
    assert header == ["patient", "split", "label", "model", "novelty", *CLASSES]
    assert all(0 <= float(row[4]) <= 1 for row in rows)
    assert {row[0] for row in rows} == {str(number) for number in range(1, 795)}
    by_split = [{row[0] for row in rows if row[1] == split} for split in ("calibration", "validation")]
    assert not by_split[0] & by_split[1]
    assert np.allclose(probabilities(rows).sum(axis=1), 1, rtol=0, atol=1e-12)


def test_the_bundled_model_is_good_enough():
    measured, classes = bundled_report()
    assert (measured.n, classes) == (1500, CLASSES)
    assert measured.accuracy >= 0.80
    assert measured.macro_recall >= 0.79
    assert measured.calibration_error <= 0.06


def test_the_bundled_files_belong_together(capsys):
    assert check_bundle.main([]) == 0
    assert "belong together" in capsys.readouterr().out
    check_bundle.main(["--tables"])
    assert capsys.readouterr().out.strip() in check_bundle.CARD.read_text(encoding="utf-8")


def test_a_file_of_another_bundle_is_noticed(tmp_path):
    weights, scores, card = (tmp_path / name for name in ("w.safetensors", "s.csv", "c.md"))
    save_model(small_model(), weights)
    assert [said.split(" ")[0] for said in check_bundle.problems(weights)] == [
        *("novelty.npz", "coronahack_softmax.csv", "README.md", "synthetic_softmax.csv")
    ]
    text = check_bundle.CORONAHACK.read_text(encoding="utf-8")
    scores.write_text(text.rsplit("\n", 2)[0] + "\n", encoding="utf-8")
    assert [said.split(" ")[0] for said in check_bundle.problems(scores=scores)] == ["s.csv", "README.md"]
    card.write_text("accuracy 0.99", encoding="utf-8")
    assert [said.split(" ")[0] for said in check_bundle.problems(card=card)] == ["c.md", "c.md"]


@needs_coronahack
def test_the_bundled_model_is_good_enough_and_gives_the_bundled_scores():
    """The validation X-rays anew: each has its row, by label and probabilities, as names are not kept."""
    scored = predict_folder(load_model(), read_coronahack(CORONAHACK, "validation"))
    labels = np.array([CLASSES.index(label) for label in scored.labels])
    measured = report(scored.probabilities, labels)  # of a third of the X-rays, so with a wider margin
    assert measured.accuracy >= 0.78
    assert measured.macro_recall >= 0.77
    _, *kept = bundled()
    for label in CLASSES:
        written = probabilities([row for row in kept if row[1:3] == ["validation", label]])
        anew = scored.probabilities[[name == label for name in scored.labels]]
        assert len(anew) == len(written)
        assert np.abs(anew[:, None] - written[None]).max(axis=2).min(axis=1).max() < 1e-4
