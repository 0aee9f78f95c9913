"""A data set of the server as new patients: how many sets of each kind, and the check, whatever its size."""

import shlex
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from pages.widgets.choose_files import below_data_directory, choose_data_set
from pages.widgets.cluster import server_executor, show_cluster
from pages.widgets.diagnose.check import show_numbers
from pages.widgets.diagnose.familiar import show_alarm
from pages.widgets.jobs import JobKey, collect, is_running, show_progress, start_job
from pages.widgets.text import as_text
from ppsets_core.background import JobProgress
from ppsets_core.data.checked import check_data_set
from ppsets_core.data.source import Source, open_source
from ppsets_core.diagnose.patient_parts import SetTally, tally_sets
from ppsets_core.errors import InputError
from ppsets_core.method.calibration import Drawn
from ppsets_core.method.check import Check, check_of
from ppsets_core.run import Executor
from ppsets_core.wording import scope

_JOB, _DONE = JobKey["Found"]("diagnose_data_set_job"), "diagnose_data_set_found"


@dataclass(frozen=True, eq=False)
class Found:
    """What the sets of a data set come to under a calibration."""

    path: Path
    calibration: Drawn
    data_set: Source
    tally: SetTally
    check: Check | None
    not_checked: str = ""


def show_data_set(calibration: Drawn) -> None:
    """From the choice to the numbers; the sets themselves are written by the command line, where the data is."""
    path = choose_data_set("diagnose_data_set")
    executor = server_executor()
    show_cluster(executor)
    running = is_running(_JOB)
    if st.button("Find their prediction sets", type="primary", key="data_set_start", disabled=running or path is None):
        assert path is not None
        start_job(_JOB, lambda report: _find(path, calibration, executor, report))
        st.rerun()
    if running:
        show_progress(_JOB, "Pieces read:")
    if (found := collect(_JOB)) is not None:
        st.session_state[_DONE] = found
    done: Found | None = st.session_state.get(_DONE)
    if done is not None and done.calibration == calibration and path in (None, done.path):
        _show(done)


def _find(path: Path, calibration: Drawn, executor: Executor, report: JobProgress) -> Found:
    group = calibration.per if calibration.group_names else None
    data_set = open_source(path, classes=calibration.classes, group=group, labels="optional")
    calibration.check_fits(data_set.classes, data_set.model)
    tally = tally_sets(data_set, calibration, executor=executor, progress=report)
    if "label" not in data_set.names:
        return Found(path, calibration, data_set, tally, None)
    report.stage = "Checking against the true diagnoses:"
    try:
        counts = check_data_set(data_set, calibration, executor=executor, progress=report)
    except InputError as error:
        return Found(path, calibration, data_set, tally, None, str(error))
    return Found(path, calibration, data_set, tally, check_of(counts))


def _show(found: Found) -> None:
    st.subheader(as_text(f"Sets of {found.data_set.source}"), anchor=False)
    model, tally = found.data_set.model, found.tally
    show_alarm(tally.alarm(found.calibration, model))
    with st.container(horizontal=True, gap="medium"):
        st.metric("Patients", f"{len(tally):,}", width="content")
        for label, number in (("One diagnosis", tally.one), ("Several", tally.several), ("None", tally.none)):
            st.metric(label, f"{number:,}", width="content")
    st.markdown(f":small[{scope(found.calibration)}]")
    if found.calibration.is_for(model) is None:
        st.caption("Calibration and data set do not both name their model; the two must belong together.")
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
