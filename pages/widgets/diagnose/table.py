"""A table of a model's own probabilities: sets for every row at once, counts, filter, check and downloads."""

from pathlib import PurePath

import streamlit as st

from pages.widgets.choose_files import LARGEST_MB, TABLES, data_sets
from pages.widgets.diagnose.check import show_check
from pages.widgets.diagnose.data_set import show_data_set
from pages.widgets.diagnose.familiar import show_alarm
from pages.widgets.downloads import offer_download
from pages.widgets.text import as_text
from ppsets_core.data import read_scores
from ppsets_core.diagnose.new_patients import (
    PatientSets,
    as_table,
    csv_of_sets,
    json_of_sets,
    parquet_of_sets,
    sets_of_new_patients,
)
from ppsets_core.diagnose.provenance import Provenance
from ppsets_core.files.names import shown_name
from ppsets_core.method.calibration import Drawn
from ppsets_core.reports.rows import table_report
from ppsets_core.wording import scope

MOST_SHOWN = 100_000
FILTERS = {"All": None, "One": "one", "Several": "several", "None": "none"}
EXAMPLE = """id,bacterial-pneumonia,normal,viral-pneumonia
A17,0.05,0.90,0.05
A18,0.30,0.10,0.60"""
UPLOAD, SERVER = "A file", "A data set of the server"
_READ = "diagnose_table_read"


def show_table(calibration: Drawn) -> None:
    """From the upload to the sets; read once, cut anew whenever the calibration changes."""
    if data_sets() and _is_on_server():
        show_data_set(calibration)
        return
    file = st.file_uploader(
        "Table of probabilities: CSV, TSV, NPZ, Parquet or JSON",
        TABLES,
        key="diagnose_table",
        max_upload_size=LARGEST_MB,
    )
    with st.expander("What is in a table?"):
        st.write(
            "One row per patient and a probability column for each diagnosis, named as in the calibration. Other "
            "columns are welcome: `id`, `file` or `patient` come back with the sets, and a true diagnosis as `label` "
            "lets the sets be checked."
        )
        st.code(EXAMPLE, language=None)
    if file is None:
        st.session_state.pop(_READ, None)
        return
    group = calibration.per if calibration.group_names else None
    known = st.session_state.get(_READ)
    if known is None or known[0] != file.file_id or known[1].calibration is not calibration:
        with st.spinner("Reading …"):
            patients = read_scores(file, classes=calibration.classes, group=group, labels="optional")
            known = (file.file_id, sets_of_new_patients(patients, calibration))
            st.session_state[_READ] = known
    _show_sets(known[1], calibration, file.file_id, shown_name(PurePath(file.name).stem))


def _is_on_server() -> bool:
    where = st.segmented_control(
        "Where is the table?", [UPLOAD, SERVER], default=UPLOAD, required=True, key="table_way", persist_state="session"
    )
    return where == SERVER


def _show_sets(sets: PatientSets, calibration: Drawn, of: str, name: str) -> None:
    patients, tally = sets.patients, sets.counts()
    st.subheader(as_text(f"Sets of {patients.source}"), anchor=False)
    show_alarm(sets.alarm)
    with st.container(horizontal=True, gap="medium"):
        st.metric("Patients", f"{len(patients):,}", width="content")
        for label, kind in (("One diagnosis", "one"), ("Several", "several"), ("None", "none")):
            st.metric(label, f"{tally[kind]:,}", width="content")
    st.markdown(f":small[{scope(calibration)}]")
    if calibration.is_for(patients.model) is None:
        st.caption("Calibration and table do not both name their model; the two must belong together.")
    if sets.check is not None:
        show_check(sets.check, patients.labelled(), calibration, of, name)
    elif patients.labels is not None:
        st.info("No row's `label` is one of the diagnoses, so that nothing can be checked.")
    _show_rows(sets, tally, of)
    _downloads(sets, Provenance(calibration, patients.model))


def _show_rows(sets: PatientSets, tally: dict[str, int], of: str) -> None:
    filters = FILTERS | ({"Missed": "missed"} if len(sets.missed) else {})
    totals = {"All": len(sets.sizes), **{n: tally[k] for n, k in FILTERS.items() if k}, "Missed": len(sets.missed)}
    chosen = st.segmented_control(
        "Rows",
        list(filters),
        default="Missed" if len(sets.missed) else "All",
        required=True,
        format_func=lambda one: f"{one} ({totals[one]:,})",
        key=f"table_filter_{of}",
        wrap=True,
    )
    rows = sets.of_kind(filters[chosen])
    if len(rows) > MOST_SHOWN:
        st.caption(f"The first {MOST_SHOWN:,} rows are shown; a download has all.")
    st.dataframe(as_table(sets, rows[:MOST_SHOWN]), hide_index=True, alt="Every row with its set and probabilities")


def _downloads(sets: PatientSets, origin: Provenance) -> None:
    kinds = {
        "CSV": ("csv", lambda: csv_of_sets(sets, origin)),
        "Parquet": ("parquet", lambda: parquet_of_sets(sets, origin)),
        "JSON": ("json", lambda: json_of_sets(sets, origin).encode()),
    }
    with st.container(horizontal=True):
        for label, (ending, make) in kinds.items():
            offer_download(f"Download all sets ({label})", make, f"prediction_sets.{ending}", key=f"table_{ending}")
        offer_download(
            "Report to print (HTML)",
            lambda: table_report(sets, origin),
            "prediction-sets-report.html",
            key="table_report",
        )
