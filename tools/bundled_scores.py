"""`python -m tools.bundled_scores CORONAHACK OUT`: the bundled model's scores of the held-out X-rays, and in
assets/synthetic_softmax.csv of the synthetic ones.

Patients are numbered in a shuffled order and files are not named, so a row leads back to no picture."""

import csv
import sys

import numpy as np

from ppsets_core.data.bundled import SYNTHETIC
from ppsets_core.model.prediction import FolderPrediction, predict_folder
from ppsets_core.model.weights import XrayModel, load_model
from ppsets_core.xrays import read_folder
from tools.coronahack import HELD_OUT, read_coronahack

_SEED = 20


def anonymous_rows(scores: dict[str, FolderPrediction], model: str) -> list[list[str]]:
    """patient, split, label, model, novelty and probabilities: shuffled, then patients numbered as they come."""
    known = [
        (patient, split, label, row)
        for split, scored in scores.items()
        for patient, label, row in zip(scored.patients, scored.labels, _numbers(scored), strict=True)
    ]
    shuffled = [known[index] for index in np.random.default_rng(_SEED).permutation(len(known))]
    numbers: dict[str, int] = {}
    return [
        [str(numbers.setdefault(patient, len(numbers) + 1)), split, label, model, *map(repr, row)]
        for patient, split, label, row in shuffled
    ]


def _numbers(scored: FolderPrediction) -> list[list[float]]:
    if scored.novelty is None:
        raise SystemExit("Learn novelty for these weights first: python -m tools.learn_novelty.")
    return np.column_stack([scored.novelty, scored.probabilities]).tolist()


def synthetic_rows(model: XrayModel) -> list[list[str]]:
    """The table of the synthetic X-rays with its header; file and label are their names."""
    files = sorted(SYNTHETIC.parent.glob("synthetic_*.png"))
    scored = predict_folder(model, read_folder(files, classes=model.classes, keep_unlabelled=True))
    header = ["file", "label", "model", "novelty", *model.classes]
    known = [[file.name, file.stem.split("_", 2)[2], model.fingerprint] for file in files]
    return [header, *([*names, *map(repr, row)] for names, row in zip(known, _numbers(scored), strict=True))]


def main(coronahack: str, out: str, synthetic: str = str(SYNTHETIC)) -> None:
    model = load_model()
    scores = {split: predict_folder(model, read_coronahack(coronahack, split)) for split in HELD_OUT}
    rows = anonymous_rows(scores, model.fingerprint)
    with open(out, "w", newline="", encoding="utf-8") as file:
        header = ["patient", "split", "label", "model", "novelty", *model.classes]
        csv.writer(file, lineterminator="\n").writerows([header, *rows])
    print(f"{out}: {len(rows)} X-rays")
    with open(synthetic, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(synthetic_rows(model))


if __name__ == "__main__":
    main(*sys.argv[1:])
