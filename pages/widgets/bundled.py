"""The bundled CoronaHack scores: public data, so one reading serves every session."""

import csv
import io
from pathlib import Path

import streamlit as st

from ppsets_core import FileError, Records, read_scores

SCORES = Path(__file__).resolve().parents[2] / "assets" / "coronahack_softmax.csv"


def bundled_scores(split: str | None = None) -> Records:
    """The model's probabilities for the held-out CoronaHack X-rays, or for one split of them."""
    if not SCORES.is_file():
        raise FileError(f"The bundled scores (assets/{SCORES.name}) are missing. Use a score file of your own instead.")
    return _read(SCORES, split)


@st.cache_resource(show_spinner=False)
def _read(path: Path, split: str | None) -> Records:
    text = path.read_text(encoding="utf-8")
    if split is not None:
        rows = list(csv.DictReader(io.StringIO(text)))
        kept = io.StringIO()
        writer = csv.DictWriter(kept, rows[0])
        writer.writeheader()
        writer.writerows(row for row in rows if row["split"] == split)
        text = kept.getvalue()
    return read_scores(text.encode(), "CoronaHack")
