"""`three-xrays`: each picture, and below it its ranked probabilities with the cutoff."""

import plotly.graph_objects as go

from ppsets_core.experiments.three_xrays import Diagnosed, ThreeXrays
from ppsets_core.figures.diagnosis import softmax_figure
from ppsets_core.figures.style import as_text, figure

WIDEST = 400


def figures(result: ThreeXrays) -> dict[str, go.Figure]:
    drawn = {}
    for number, xray in enumerate(result.xrays, start=1):
        drawn[f"X-ray {number}: {xray.picture.name}"] = _picture(xray)
        drawn[f"X-ray {number}: its set"] = softmax_figure(
            result.classes, xray.probabilities, result.calibration.threshold
        )
    return drawn


def _picture(xray: Diagnosed) -> go.Figure:
    step = max(1, max(xray.picture.grey.shape) // WIDEST)
    drawn = figure("", "", height=300)
    drawn.add_heatmap(
        z=(255 * xray.picture.grey[::step, ::step]).astype(int), colorscale="gray", showscale=False, hoverinfo="skip"
    )
    drawn.update_xaxes(visible=False)
    drawn.update_yaxes(visible=False, autorange="reversed", scaleanchor="x")
    drawn.update_layout(title={"text": as_text(f"label: {xray.label}") if xray.label else ""})
    return drawn
