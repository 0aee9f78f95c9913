"""`three-xrays`: three X-rays with their ranked sets, as the paper shows three of COVID-19."""

import io
from itertools import islice
from pathlib import Path

import numpy as np
import plotly.graph_objects as go
from PIL import Image

from ppsets_core.data.bundled import bundled_scores
from ppsets_core.data.counts import simulate
from ppsets_core.diagnose.set_table import SetRow, SetTable, sets_of
from ppsets_core.diagnose.xrays import examine
from ppsets_core.errors import FileError
from ppsets_core.experiments.findings import Findings, Table
from ppsets_core.explore.style import BLUE, FAINT, VERMILLION, as_text, figure
from ppsets_core.method.plan import plan
from ppsets_core.places import ASSETS
from ppsets_core.progress import Progress
from ppsets_core.wording import MARGINAL, NOT_A_DEVICE
from ppsets_core.xrays import XrayFolder, read_folder

ALPHA, EPSILON, SHOWN = 0.1, 10.0, 3


def run(*, seed: int = 0, progress: Progress | None = None, xrays: str | Path | None = None) -> SetTable:
    """The first three readable X-rays of a folder, or a bundled synthetic one of each class.

    The threshold is simulated, by seed, from the bundled scores, which are public: no release is spent.
    """
    from ppsets_core.model import load_model

    scored = bundled_scores("calibration")
    calibration = simulate(scored, plan(len(scored), ALPHA, EPSILON), np.random.default_rng(seed))
    folder = read_folder(xrays, keep_unlabelled=True) if xrays else _synthetic(scored.classes)
    readable = list(islice(folder.readable([]), SHOWN))
    if not readable:
        raise FileError(f"{xrays} holds no readable X-ray. Give a folder, a zip or a file of PNG, JPEG, TIFF or DICOM.")
    first = folder.part(slice(folder.xrays.index(readable[-1][0]) + 1))
    found = examine(load_model(), first, progress=progress)
    return sets_of(found.records, calibration, xrays=found)


def _synthetic(classes: tuple[str, ...]) -> XrayFolder:
    """The first bundled synthetic X-ray of each class, whose file name ends in it."""
    files = {name: min(ASSETS.glob(f"synthetic_*_{name}.png"), default=None) for name in classes}
    if None in files.values():
        raise FileError(
            "The bundled synthetic X-rays (assets/synthetic_*.png) are missing. Give a folder with --xrays."
        )
    labels = "".join(f"{file.name},{name}\n" for name, file in files.items() if file)
    return read_folder([file for file in files.values() if file], labels=io.BytesIO(f"file,label\n{labels}".encode()))


def findings(sets: SetTable) -> Findings:
    rows = [sets[number] for number in range(len(sets))]
    known = [row for row in rows if row.label]
    calibration = sets.calibration
    return Findings(
        "Three X-rays and their sets",
        {"alpha": ALPHA, "epsilon": EPSILON, "n": calibration.n, "threshold": calibration.threshold},
        (
            Table(
                "Ranked sets",
                ("X-ray", "label", "set, likeliest first", "looks like a chest X-ray"),
                tuple((row.name, row.label or "–", _ranked(row), row.doubt or "yes") for row in rows),
            ),
        ),
        (
            f"Sets of {', '.join(f'{len(row.members)}' for row in rows)} diagnoses; the label is in "
            f"{sum(not row.is_missed for row in known)} of the {len(known)} that have one.",
            "The threshold is simulated from public scores, by seed; it is no private release.",
            MARGINAL,
            NOT_A_DEVICE,
        ),
        {
            "calibration": calibration.document() | {"thresholds": calibration.thresholds},
            "xrays": [
                {"name": row.name, "label": row.label, "probabilities": row.shares, "set": row.members} for row in rows
            ],
        },
    )


def _ranked(row: SetRow) -> str:
    return ", ".join(f"{name} {row.probabilities[name]:.2f}" for name in row.members) or "none"


def figures(sets: SetTable) -> dict[str, go.Figure]:
    """Each picture, and below it its ranked probabilities with the cutoff."""
    figs = {}
    for number in range(len(sets)):
        row = sets[number]
        figs[f"X-ray {number + 1}: {row.name}"] = _picture(row)
        figs[f"X-ray {number + 1}: its set"] = _bars(row, sets.calibration.cutoff)
    return figs


def _picture(row: SetRow) -> go.Figure:
    grey = np.asarray(Image.open(io.BytesIO(row.thumbnail)))
    fig = figure("", "", height=300)
    fig.add_heatmap(z=grey, colorscale="gray", showscale=False, hoverinfo="skip")
    fig.update_xaxes(visible=False)
    fig.update_yaxes(visible=False, autorange="reversed", scaleanchor="x")
    fig.update_layout(title={"text": as_text(f"label: {row.label}") if row.label else ""})
    return fig


def _bars(row: SetRow, cutoff: float) -> go.Figure:
    """Likeliest first; those in the set are blue."""
    fig = figure(f"probability; the line is the cutoff, {cutoff:.3g}", "", height=300)
    names, shares = [as_text(name) for name in row.probabilities], list(row.probabilities.values())
    colours = [BLUE if name in row.members else FAINT for name in row.probabilities]
    fig.add_bar(x=shares, y=names, orientation="h", marker={"color": colours}, showlegend=False)
    fig.add_vline(x=cutoff, line={"color": VERMILLION, "width": 3})
    fig.update_xaxes(range=[0, 1])
    return fig.update_yaxes(autorange="reversed")
