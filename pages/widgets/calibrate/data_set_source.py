"""Calibration records from a data set of the server: chosen where it lies, counted when they are paid for."""

from collections.abc import Callable
from pathlib import Path

import streamlit as st

from pages.widgets.calibrate.reading import ONE_EACH, ONE_EACH_HELP, Reading, forget, remember, remembered
from pages.widgets.cluster import server_executor, show_cluster
from pages.widgets.data_sets import choose_data_set
from pages.widgets.jobs import JobKey, collect, is_running, show_progress, start_job, stop_job
from ppsets_core.background import JobProgress
from ppsets_core.data.counting import Chosen, Counted, choose, count
from ppsets_core.data.data_set import open_data_set
from ppsets_core.files.names import shown_name
from ppsets_core.ledger import Ledger
from ppsets_core.method.plan import Plan
from ppsets_core.run import Executor

_READING = JobKey[Reading]("read_data_set")


def read_data_set() -> Reading | None:
    """How many records there are to use; None until that is known. Scores are counted only for a release."""
    st.write(
        "A folder of Parquet files, as `ppsets score` writes them or with the columns of a score file. It may be "
        "larger than memory: it is read in pieces, once to choose the records and once, for a release, to count them."
    )
    path = choose_data_set("calibrate_data_set", on_change=_forget)
    single = st.toggle(
        ONE_EACH,
        value=True,
        key="data_set_one_per_patient",
        on_change=_forget,
        persist_state="session",
        help=ONE_EACH_HELP,
    )
    executor = server_executor()
    show_cluster(executor)
    if is_running(_READING):
        show_progress(_READING, "Pieces read:")
        return None
    if (found := collect(_READING)) is not None:
        remember("data_set", found)
    if (known := remembered("data_set")) is not None:
        return known
    if st.button("Read this data set", type="primary", key="read_data_set_start", disabled=path is None) and path:
        start_job(_READING, lambda report: _read(path, executor, not single, report))
        st.rerun()
    return None


def _read(path: Path, executor: Executor, every: bool, report: JobProgress) -> Reading:
    data_set = open_data_set(path)
    chosen = choose(data_set, all_records=every, executor=executor, progress=report)
    return Reading(shown_name(path.name), chosen)


def counting(records: Chosen, planned: Plan, ledger: Ledger) -> Callable[[JobProgress], Counted]:
    """Work that counts the records as the plan needs them."""
    executor, identify = server_executor(), ledger.identify(len(records))

    def work(progress: JobProgress) -> Counted:
        return count(records, planned, identify, executor=executor, progress=progress)

    return work


def _forget() -> None:
    forget("data_set")
    stop_job(_READING)
