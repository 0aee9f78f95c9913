"""Calibration records from the bundled scores or from a score file."""

from pathlib import PurePath

import streamlit as st

from pages.widgets.active_model import warn_of_other_weights
from pages.widgets.bundled import bundled_scores
from pages.widgets.calibrate.reading import Reading, forget, remember, remembered
from pages.widgets.score_files import LARGEST_MB, SCORES
from ppsets_core import read_scores
from ppsets_core.files.names import shown_name

DEMO_DATASET, DEMO_BUDGET = "coronahack-demo", 10.0
EXAMPLE = """patient,label,bacterial-pneumonia,normal,viral-pneumonia
P1,normal,0.05,0.90,0.05
P2,viral-pneumonia,0.30,0.10,0.60"""


def read_bundled() -> Reading:
    st.write(
        "The bundled model's softmax scores for the CoronaHack X-rays that were set aside for calibration. They are "
        "public, so their budget is for practice."
    )
    warn_of_other_weights()
    return Reading(DEMO_DATASET, bundled_scores("calibration"), id="bundled")


def read_score_file() -> Reading | None:
    """The uploaded file's records; read once, kept until another file is chosen."""
    file = st.file_uploader(
        "Score file: CSV, TSV, NPY, NPZ, Parquet or JSON",
        SCORES,
        key="score_file",
        on_change=forget,
        args=("scores",),
        max_upload_size=LARGEST_MB,
    )
    with st.expander("What is in a score file?"):
        st.write(
            "One row per record: a probability column for each diagnosis, the true one as `label`, and `patient` where "
            "known. Or a single column `score`: 1 − the probability of the true diagnosis."
        )
        st.code(EXAMPLE, language=None)
    if file is not None and remembered("scores") is None:
        with st.spinner("Reading …"):
            remember("scores", Reading(shown_name(PurePath(file.name).stem), read_scores(file)))
    return remembered("scores")
