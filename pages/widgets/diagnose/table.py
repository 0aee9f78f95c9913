"""A table of a model's own probabilities: an upload with its sets, or a data set of the server with their counts."""

import shlex
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

import streamlit as st

from pages.widgets.choose_files import LARGEST_MB, TABLES, below_data_directory, choose_data_set, choose_one, data_sets
from pages.widgets.cluster import server_executor, show_cluster
from pages.widgets.diagnose.check import show_check, show_numbers
from pages.widgets.diagnose.summary import choose_reading, show_counts, show_downloads, shown_table
from pages.widgets.jobs import JobKey, is_running, latest, start_job
from pages.widgets.text import as_text
from ppsets_core.data import read_scores
from ppsets_core.data.counts import Selection
from ppsets_core.data.source import Source, open_source
from ppsets_core.diagnose.exports import count_sets
from ppsets_core.diagnose.set_table import SetCounts, SetTable, sets_of
from ppsets_core.errors import InputError
from ppsets_core.files.names import shown_name
from ppsets_core.method.calibration import BaseCalibration
from ppsets_core.method.check import Check, check_counts
from ppsets_core.progress import JobProgress
from ppsets_core.run import Executor
from ppsets_core.wording import class_names

MOST_SHOWN = 100_000
EXAMPLE = """id,bacterial-pneumonia,normal,viral-pneumonia
A17,0.05,0.90,0.05
A18,0.30,0.10,0.60"""
UPLOAD, SERVER = "A file", "A data set of the server"
_READ = "diagnose_table_read"
_JOB, _DONE = JobKey["Found"]("diagnose_data_set_job"), "diagnose_data_set_found"


def show_table(calibration: BaseCalibration) -> None:
    """From the upload to the sets; read once, cut anew whenever the calibration changes."""
    if data_sets() and choose_one("Where is the table?", [UPLOAD, SERVER], "table_way") == SERVER:
        _show_data_set(calibration)
        return
    label = "Table of probabilities: CSV, TSV, NPZ, Parquet or JSON"
    file = st.file_uploader(label, TABLES, key="diagnose_table", max_upload_size=LARGEST_MB)
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
    known = st.session_state.get(_READ)
    if known is None or known[0] != file.file_id or known[1].calibration is not calibration:
        with st.spinner("Reading …"):
            group = calibration.per if calibration.group_names else None
            patients = read_scores(file, classes=calibration.classes, group=group, labels="optional")
            known = st.session_state[_READ] = (file.file_id, sets_of(patients, calibration))
    _show_sets(known[1], file.file_id, shown_name(PurePath(file.name).stem))


def _show_sets(sets: SetTable, of: str, name: str) -> None:
    st.header(as_text(f"Sets of {sets.records.source}"), anchor=False)
    show_counts(sets.counts, sets.calibration, sets.records.model)
    show_check(sets, of, name)
    if sets.check is None and sets.records.labels is not None:
        st.info("No row's `label` is one of the diagnoses, so that nothing can be checked.")
    with st.container(horizontal=True):
        rows = sets.rows(choose_reading(sets, f"table_filter_{of}"))
        show_downloads(sets)
    if len(rows) > MOST_SHOWN:
        st.caption(f"The first {MOST_SHOWN:,} rows are shown; a download has all.")
    st.dataframe(
        shown_table(sets.shown(), rows[:MOST_SHOWN]), hide_index=True, alt="Every row with its set and probabilities"
    )


@dataclass(frozen=True, eq=False)
class Found:
    """What the sets of a data set come to under a calibration."""

    path: Path
    calibration: BaseCalibration
    data_set: Source
    counts: SetCounts
    check: Check | None
    not_checked: str = ""


def _show_data_set(calibration: BaseCalibration) -> None:
    """From the choice to the numbers; the sets themselves are written by the command line, where the data is."""
    path = choose_data_set("diagnose_data_set")
    executor = server_executor()
    show_cluster(executor)
    off = path is None or is_running(_JOB)
    if st.button("Get prediction sets", type="primary", key="data_set_start", disabled=off) and path:
        start_job(_JOB, lambda report: _find(path, calibration, executor, report))
        st.rerun()
    done = latest(_JOB, _DONE, "Pieces read:")
    if done is not None and done.calibration == calibration and path in (None, done.path):
        _show_found(done)


def _find(path: Path, calibration: BaseCalibration, executor: Executor, report: JobProgress) -> Found:
    group = calibration.per if calibration.group_names else None
    data_set = open_source(path, classes=calibration.classes, group=group, labels="optional")
    counts = count_sets(data_set, calibration, executor=executor, progress=report)
    if "label" not in data_set.names:
        return Found(path, calibration, data_set, counts, None)
    report.stage = "Checking against the true diagnoses:"
    try:
        checked = Selection(**data_set.facts(), executor=executor, progress=report).coverage(calibration)
    except InputError as error:
        return Found(path, calibration, data_set, counts, None, str(error))
    return Found(
        path, calibration, data_set, counts, check_counts(replace(checked, classes=class_names(checked.classes)))
    )


def _show_found(found: Found) -> None:
    st.header(as_text(f"Sets of {found.data_set.source}"), anchor=False)
    show_counts(found.counts, found.calibration, found.data_set.model)
    if found.check is not None:
        with st.container(border=True, key="check"):
            show_numbers(found.check)
    if found.not_checked:
        st.info(as_text(found.not_checked))
    st.caption("To write the sets as Parquet, or to release a private check of them, on the server:")
    name = f'"$PPSETS_DATA"/{shlex.quote(f"{below_data_directory(found.path)}/")}'
    st.code(
        f"ppsets predict {name} --calibration calibration.json --out sets/\n"
        f"ppsets check {name} --calibration calibration.json --private --epsilon 0.5 --budget 2",
        language=None,
    )
