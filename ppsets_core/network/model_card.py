"""The measured numbers of a model as the tables of its card. `python -m ppsets_core.network.model_card` prints them
for the bundled scores."""

import csv

import numpy as np

from ppsets_core.network.report import ModelReport, report
from ppsets_core.places import ASSETS

BUNDLED_SCORES = ASSETS / "coronahack_softmax.csv"


def bundled_report() -> tuple[ModelReport, tuple[str, ...]]:
    """The report on the bundled scores, and the classes."""
    with BUNDLED_SCORES.open(newline="", encoding="utf-8") as file:
        (_, _, _, *classes), *rows = csv.reader(file)
    probabilities = np.array([row[3:] for row in rows], dtype=np.float64)
    return report(probabilities, np.array([classes.index(row[2]) for row in rows])), tuple(classes)


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
        [f"{b.low:.2f}–{b.high:.2f}", str(b.count), f"{b.confidence:.3f}", f"{b.accuracy:.3f}"]
        for b in measured.reliability
    ]
    return "\n\n".join(
        [
            _table(["measure", "value"], summary),
            _table(["truth ↓, model says →", *classes], confusion),
            _table(["probability of the likeliest class", "X-rays", "mean probability", "share right"], reliability),
        ]
    )


def _table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    print(tables(*bundled_report()))
