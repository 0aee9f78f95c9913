"""`three-xrays`: three X-rays with their ranked sets, as the paper shows three of COVID-19."""

from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import plotly.graph_objects as go

from ppsets_core.data.bundled import bundled_scores
from ppsets_core.data.counts import simulate
from ppsets_core.errors import FileError
from ppsets_core.experiments.findings import Findings, Table
from ppsets_core.explore.figures import softmax_figure
from ppsets_core.explore.style import as_text, figure
from ppsets_core.method.calibration import Simulation
from ppsets_core.method.plan import plan
from ppsets_core.method.sets import ranked_sets
from ppsets_core.places import ASSETS
from ppsets_core.progress import Progress
from ppsets_core.wording import MARGINAL, NOT_A_DEVICE
from ppsets_core.xrays import Picture, read_folder

ALPHA, EPSILON = 0.1, 10.0
SHOWN, WIDEST = 3, 400


@dataclass(frozen=True, eq=False)
class Diagnosed:
    """One X-ray, its probabilities and its set, likeliest first; `doubt` says why it may be no chest X-ray."""

    picture: Picture
    label: str | None
    probabilities: np.ndarray
    ranked_set: tuple[int, ...]
    doubt: str


@dataclass(frozen=True, eq=False)
class ThreeXrays:
    calibration: Simulation
    classes: tuple[str, ...]
    xrays: tuple[Diagnosed, ...]


def run(*, seed: int = 0, progress: Progress | None = None, xrays: str | Path | None = None) -> ThreeXrays:
    """The first three readable X-rays of a folder, or a bundled synthetic one of each class.

    The threshold is simulated, by seed, from the bundled scores, which are public: no release is spent.
    """
    from ppsets_core.model.gate import why_not_a_chest_xray
    from ppsets_core.model.prediction import predict
    from ppsets_core.model.weights import load_model

    scored = bundled_scores("calibration")
    calibration = simulate(scored, plan(len(scored), ALPHA, EPSILON), np.random.default_rng(seed))
    pictures = _from_folder(xrays) if xrays else _synthetic(scored.classes)
    model = load_model()
    probabilities = predict(
        model,
        (picture for picture, _ in pictures),
        progress=None if progress is None else lambda done: progress(done, len(pictures)),
    )
    sets = ranked_sets(probabilities, calibration, classes=model.classes)
    found = zip(pictures, probabilities, sets, strict=True)
    answers = tuple(Diagnosed(p, label, row, tuple(s), why_not_a_chest_xray(p)) for (p, label), row, s in found)
    return ThreeXrays(calibration, model.classes, answers)


def _from_folder(source: str | Path) -> list[tuple[Picture, str | None]]:
    folder = read_folder(source)
    readable = ((picture, xray.label) for xray, picture in folder.readable([]))
    if not (found := list(islice(readable, SHOWN))):
        raise FileError(
            f"{source} holds no readable X-ray. Give a folder, a zip or a file of PNG, JPEG, TIFF or DICOM."
        )
    return found


def _synthetic(classes: tuple[str, ...]) -> list[tuple[Picture, str | None]]:
    """The first bundled synthetic X-ray of each class, whose file name ends in it."""
    found: list[tuple[Picture, str | None]] = []
    for name in classes:
        file = min(ASSETS.glob(f"synthetic_*_{name}.png"), default=None)
        if file is None:
            raise FileError(
                "The bundled synthetic X-rays (assets/synthetic_*.png) are missing. Give a folder with --xrays."
            )
        found += [(picture, name) for picture, _ in _from_folder(file)]
    return found


def findings(result: ThreeXrays) -> Findings:
    rows = tuple(
        (
            xray.picture.name,
            xray.label or "–",
            ", ".join(f"{result.classes[y]} {xray.probabilities[y]:.2f}" for y in xray.ranked_set) or "none",
            xray.doubt or "yes",
        )
        for xray in result.xrays
    )
    sizes = [len(xray.ranked_set) for xray in result.xrays]
    held = sum(x.label in {result.classes[y] for y in x.ranked_set} for x in result.xrays if x.label)
    known = sum(x.label is not None for x in result.xrays)
    return Findings(
        "Three X-rays and their sets",
        {"alpha": ALPHA, "epsilon": EPSILON, "n": result.calibration.n, "threshold": result.calibration.threshold},
        (Table("Ranked sets", ("X-ray", "label", "set, likeliest first", "looks like a chest X-ray"), rows),),
        (
            f"Sets of {', '.join(map(str, sizes))} diagnoses; the label is in {held} of the {known} that have one.",
            "The threshold is simulated from public scores, by seed; it is no private release.",
            MARGINAL,
            NOT_A_DEVICE,
        ),
        {
            "calibration": result.calibration.document() | {"thresholds": result.calibration.thresholds},
            "xrays": [
                {"name": x.picture.name, "label": x.label, "probabilities": x.probabilities, "set": list(x.ranked_set)}
                for x in result.xrays
            ],
        },
    )


def figures(result: ThreeXrays) -> dict[str, go.Figure]:
    """Each picture, and below it its ranked probabilities with the cutoff."""
    figs = {}
    (thresholds,) = result.calibration.class_thresholds(1, len(result.classes))
    for number, xray in enumerate(result.xrays, start=1):
        figs[f"X-ray {number}: {xray.picture.name}"] = _picture(xray)
        figs[f"X-ray {number}: its set"] = softmax_figure(result.classes, xray.probabilities, thresholds)
    return figs


def _picture(xray: Diagnosed) -> go.Figure:
    step = max(1, max(xray.picture.grey.shape) // WIDEST)
    fig = figure("", "", height=300)
    fig.add_heatmap(
        z=(255 * xray.picture.grey[::step, ::step]).astype(int), colorscale="gray", showscale=False, hoverinfo="skip"
    )
    fig.update_xaxes(visible=False)
    fig.update_yaxes(visible=False, autorange="reversed", scaleanchor="x")
    fig.update_layout(title={"text": as_text(f"label: {xray.label}") if xray.label else ""})
    return fig
