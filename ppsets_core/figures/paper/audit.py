"""`audit`: the loss found beside the ε that was promised, on a logarithmic axis."""

import plotly.graph_objects as go

from ppsets_core.experiments.audit import RULES, Audit
from ppsets_core.figures.style import COLOURS, GREY, ORANGE, SYMBOLS, figure


def figures(audit: Audit) -> dict[str, go.Figure]:
    drawn = figure("privacy loss / ε promised", "", height=420)
    for rule, name in RULES.items():
        losses = [loss for loss in audit.losses if loss.rule == rule]
        drawn.add_scatter(
            x=[loss.loss / loss.epsilon for loss in losses],
            y=[f"n = {loss.n:,}, ε = {loss.epsilon:g}" for loss in losses],
            mode="markers",
            name=name,
            marker={"symbol": SYMBOLS.get(rule, "x"), "size": 12, "color": COLOURS.get(rule, ORANGE)},
        )
    drawn.add_vline(x=1, line={"color": GREY, "dash": "dash"})
    drawn.update_xaxes(type="log", dtick=1)
    return {"Exact privacy loss: right of the line, more is lost than promised": drawn}
