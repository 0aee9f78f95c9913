"""The part that runs in the browser, and how a picture is packed for it: one message, no address, no file."""

import json
from pathlib import Path
from struct import pack

import numpy as np
import streamlit as st

from ppsets_core.xrays.shades import Shades

_HERE = Path(__file__).parent
_NAME, _KEY = "ppsets_viewer", "xray_viewer"


def draw_viewer(shades: Shades, heat: np.ndarray | None, *, name: str, place: int, total: int) -> int | None:
    """Show one X-ray of a queue. Says which place of the queue is asked for, None where none is."""
    html, css, js = (_HERE.joinpath(f"viewer.{kind}").read_text("utf-8") for kind in ("html", "css", "js"))
    mount = st.components.v2.component(_NAME, html=html, css=css, js=js)
    asked = mount(key=_KEY, data=packed(shades, heat, name, place, total), on_place_change=lambda: None).place
    return asked if isinstance(asked, int) and 0 <= asked < total and asked != place else None


def packed(shades: Shades, heat: np.ndarray | None, name: str, place: int, total: int) -> bytes:
    """As viewer.js unpacks it: the length of a JSON text, that text, the values, the heat in 256 steps."""
    rows, columns = shades.values.shape
    ends = [shades.first, shades.first + shades.step * float(shades.values.max())]
    told = {
        "id": name,
        "place": place,
        "total": total,
        "rows": rows,
        "columns": columns,
        "bytes": shades.values.itemsize,
        "low": min(ends),
        "high": max(ends),
        "framed": list(shades.framed),
        **{field: getattr(shades, field) for field in ("first", "step", "centre", "width", "inverted", "windowed")},
    }
    if heat is not None:
        told |= {"heat_rows": heat.shape[0], "heat_columns": heat.shape[1]}
    text = json.dumps(told).encode("ascii")
    warm = b"" if heat is None else np.rint(heat * 255).astype(np.uint8).tobytes()
    return pack("<I", len(text)) + text + np.ascontiguousarray(shades.values).astype(_little(shades)).tobytes() + warm


def _little(shades: Shades) -> np.dtype:
    return shades.values.dtype.newbyteorder("<")
