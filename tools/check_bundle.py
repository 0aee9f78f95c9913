"""`python -m tools.check_bundle`: do the bundled weights, novelty statistics, gate, scores and model card fit together?

With `--tables` it prints the card's tables from the bundled scores instead."""

import csv
import hashlib
import sys
from collections import Counter
from collections.abc import Iterator
from math import ceil
from pathlib import Path

import numpy as np

from ppsets_core.data.bundled import CORONAHACK, SYNTHETIC
from ppsets_core.data.source import read_scores
from ppsets_core.model.folder_records import SPLIT
from ppsets_core.model.gate import load_fit
from ppsets_core.model.novelty import BUNDLED as NOVELTY
from ppsets_core.model.novelty import load_statistics
from ppsets_core.model.report import RELIABILITY_BINS, ModelReport, report
from ppsets_core.model.weights import load_model
from ppsets_core.model_fingerprint import BUNDLED_WEIGHTS
from ppsets_core.places import MODELS
from tools.bundled_scores import synthetic_rows
from tools.coronahack import HELD_OUT

CARD = MODELS / "README.md"


def problems(
    weights: Path = BUNDLED_WEIGHTS, novelty: Path = NOVELTY, scores: Path = CORONAHACK, card: Path = CARD
) -> Iterator[str]:
    """What does not fit, in sentences that say what to do."""
    model, statistics, records = load_model(weights), load_statistics(novelty), read_scores(scores)
    load_fit()
    is_known = statistics.model == model.fingerprint and len(statistics.means) == len(model.classes)
    if not is_known:
        yield f"{novelty.name} is not of {weights.name}. Run: python -m tools.learn_novelty coronahack --out {novelty}"
    if (records.model, records.classes) != (model.fingerprint, model.classes) or _parts(scores) != _parts(SPLIT):
        yield f"{scores.name} is not of {weights.name}. Run: python -m tools.bundled_scores coronahack {scores}"
    text = card.read_text(encoding="utf-8")
    if (digest := hashlib.sha256(weights.read_bytes()).hexdigest()) not in text:
        yield f"{card.name} is not of {weights.name}, whose SHA-256 is {digest}."
    if tables(report(records.probabilities, records.labels), records.classes) not in text:
        yield f"{card.name} is not of {scores.name}. Copy its tables from: python -m tools.check_bundle --tables"
    if not (is_known and _are_alike(synthetic_rows(model))):
        yield f"{SYNTHETIC.name} is not of {weights.name}. Run: python -m tools.bundled_scores coronahack {scores}"


def _are_alike(rows: list[list[str]]) -> bool:
    """Whether the bundled table of synthetic X-rays is this one, up to the arithmetic of another machine."""
    with SYNTHETIC.open(newline="", encoding="utf-8") as file:
        bundled = list(csv.reader(file))
    same = [row[:3] for row in bundled] == [row[:3] for row in rows] and bundled[0] == rows[0]
    return same and np.allclose(
        *(np.array([row[3:] for row in one[1:]], dtype=float) for one in (bundled, rows)), atol=1e-3
    )


def _parts(path: Path) -> Counter:
    """How many held-out X-rays of each label each part has."""
    with path.open(newline="", encoding="utf-8") as file:
        return Counter((row["split"], row["label"]) for row in csv.DictReader(file) if row["split"] in HELD_OUT)


def tables(measured: ModelReport, classes: tuple[str, ...]) -> str:
    """Accuracy, recalls, confusion and reliability in Markdown."""
    summary = [
        ["X-rays", f"{measured.n:,}"],
        ["accuracy", f"{measured.accuracy:.3f}"],
        ["macro recall", f"{measured.macro_recall:.3f}"],
        *([f"recall, {name}", f"{recall:.3f}"] for name, recall in zip(classes, measured.recalls, strict=True)),
        ["expected calibration error (15 bins)", f"{measured.calibration_error:.3f}"],
    ]
    confusion = [[name, *map(str, row)] for name, row in zip(classes, measured.confusion, strict=True)]
    reliability = [
        [_bin_of(b.confidence), str(b.count), f"{b.confidence:.3f}", f"{b.accuracy:.3f}"] for b in measured.reliability
    ]
    return "\n\n".join(
        [
            _table(["measure", "value"], summary),
            _table(["truth ↓, model says →", *classes], confusion),
            _table(["probability of the likeliest class", "X-rays", "mean probability", "share right"], reliability),
        ]
    )


def _bin_of(confidence: float) -> str:
    number = ceil(confidence * RELIABILITY_BINS)
    return f"{(number - 1) / RELIABILITY_BINS:.2f}–{number / RELIABILITY_BINS:.2f}"


def _table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main(arguments: list[str]) -> int:
    if arguments == ["--tables"]:
        records = read_scores(CORONAHACK)
        print(tables(report(records.probabilities, records.labels), records.classes))
        return 0
    found = list(problems())
    print("\n".join(found) or "The bundled files belong together.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
