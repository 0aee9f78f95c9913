"""Figures as a page that works offline, and their numbers as CSV."""

import csv
import html
import io
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.offline import get_plotlyjs

from ppsets_core.files.names import plain_cell

_CONFIG = {"responsive": True, "displayModeBar": False}
_STYLE = (
    "body{margin:16px;font-family:sans-serif;background:#fff;color:#222}"
    "main{display:grid;grid-template-columns:1fr 1fr;gap:16px}@media(max-width:700px){main{display:block}}"
    "h1{font-size:20px;margin:0 0 12px}h2{font-size:15px;margin:0;height:24px}section{min-width:0}"
)


def whole_page(title: str, figures: Mapping[str, go.Figure]) -> str:
    """One page with every figure and plotly's script inside: a single file to hand on."""
    parts = [
        f"<section><h2>{html.escape(name)}</h2>"
        f"{figure.to_html(full_html=False, include_plotlyjs=False, config=_CONFIG)}</section>"
        for name, figure in figures.items()
    ]
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>'
        f"<style>{_STYLE}</style><script>{get_plotlyjs()}</script></head>"
        f"<body><h1>{html.escape(title)}</h1><main>{''.join(parts)}</main></body></html>"
    )


def csv_of_rows(rows: Sequence[Mapping[str, object]]) -> str:
    """Rows with the same columns; numbers as they are."""
    out = io.StringIO()
    if rows:
        writer = csv.DictWriter(out, [plain_cell(name) for name in rows[0]])
        writer.writeheader()
        writer.writerows({plain_cell(name): _cell(value) for name, value in row.items()} for row in rows)
    return out.getvalue()


def numbers_of(figures: Mapping[str, go.Figure]) -> list[dict[str, object]]:
    """One row for each point of each line: figure, line, x and y as the axes are titled; of a map also its value."""
    return [row for title, figure in figures.items() for row in _rows(title, figure)]


def _rows(title: str, figure: go.Figure) -> Iterator[dict[str, object]]:
    across, up = (getattr(figure.layout, axis).title.text or axis[0] for axis in ("xaxis", "yaxis"))
    for trace in figure.data:
        named = {"figure": title, "line": html.unescape(trace.name or "")}
        axes = {"horizontal axis": across, "vertical axis": up}
        for x, y in zip(_values(trace, "x"), _values(trace, "y"), strict=False):
            yield named | axes | {"x": x, "y": y}


def _values(trace: go.Scatter, name: str) -> list[object]:
    values = getattr(trace, name, None)
    return [] if values is None else np.asarray(values, dtype=object).tolist()


def _cell(value: object) -> object:
    return plain_cell(value) if isinstance(value, str) else value
