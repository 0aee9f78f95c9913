"""The measured numbers of a model as the tables of its card. `python -m ppsets_core.model.model_card` prints them
for the bundled scores."""

from ppsets_core.data.bundled import bundled_scores
from ppsets_core.model.report import ModelReport, report


def bundled_report() -> tuple[ModelReport, tuple[str, ...]]:
    """The report on the bundled scores, and the classes."""
    records = bundled_scores()
    assert records.probabilities is not None
    assert records.labels is not None
    return report(records.probabilities, records.labels), records.classes


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
