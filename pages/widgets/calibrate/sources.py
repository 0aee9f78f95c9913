"""Where calibration records come from: bundled scores, a score file, X-rays, a data set, a saved calibration."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

import streamlit as st

from pages.widgets import choose_files as choose
from pages.widgets import session
from pages.widgets.calibration_card import show_calibration
from pages.widgets.choose_files import ChosenXrays, proposed_name
from pages.widgets.cluster import server_executor, show_cluster
from pages.widgets.jobs import JobKey, is_running, latest, start_job, stop_job
from pages.widgets.settings import kept
from pages.widgets.streamlit_parts import UploadedFile
from pages.widgets.text import as_text, show_refused
from ppsets_core import Calibration, FileError, Records, Simulation, one_per_patient, read_scores
from ppsets_core.data import of_split
from ppsets_core.data.counts import DescribedRecords, Selection, select
from ppsets_core.data.source import open_source, parts_in_words
from ppsets_core.files import Refused
from ppsets_core.files.names import shown_name
from ppsets_core.ledger import Ledger
from ppsets_core.method.calibration_json import LONGEST, REMEDY, read_calibration
from ppsets_core.method.counts import Counts
from ppsets_core.method.plan import Plan
from ppsets_core.model.folder_records import patients_note, records_of
from ppsets_core.progress import JobProgress
from ppsets_core.run import Executor
from ppsets_core.scores import LAC
from ppsets_core.wording import class_names, describe
from ppsets_core.xrays import XrayFolder, read_folder

if TYPE_CHECKING:
    from ppsets_core.model import XrayModel

_LISTED, _JOB = "xrays_listed", JobKey["Reading"]("classify_calibration")
_READING = JobKey["Reading"]("read_data_set")
_SCORES, _XRAYS, _DATA_SET = "reading_scores", "reading_xrays", "reading_data_set"
DEMO_DATASET, DEMO_BUDGET = "coronahack-demo", 10.0
EXAMPLE = """patient,label,bacterial-pneumonia,normal,viral-pneumonia
P1,normal,0.05,0.90,0.05
P2,viral-pneumonia,0.30,0.10,0.60"""
ALL_PARTS = "All of them"
ONE_EACH = "One X-ray of each patient"
ONE_EACH_HELP = (
    "ε protects one record. With one record of each patient it protects the patient. "
    "Which one is kept does not depend on its score; a record without a patient's name is kept."
)


@dataclass(frozen=True, eq=False)
class Reading:
    """Records, a name to propose for their account, and what could not be used."""

    name: str
    records: DescribedRecords
    refused: tuple[Refused, ...] = ()
    notes: tuple[str, ...] = ()
    id: str = field(default_factory=lambda: uuid.uuid4().hex)


def choose_one_each(key: str, on_change: Callable[[], None] | None = None) -> bool:
    """Whether one record of each patient is used, so that ε protects the patient."""
    return st.toggle(
        ONE_EACH, kept(key, True), key=key, on_change=on_change, persist_state="session", help=ONE_EACH_HELP
    )


def summarise(reading: Reading) -> DescribedRecords:
    """Say what was read, before anything is spent, and return the records to calibrate with."""
    chosen = reading.records
    if isinstance(chosen, Records):
        chosen = _choose_part(reading, chosen)
    number = chosen.read if isinstance(chosen, Selection) else len(chosen)
    with st.container(horizontal=True, vertical_alignment="center"):
        if isinstance(chosen, Records) and chosen.patients is not None and choose_one_each("one_per_patient"):
            chosen = one_per_patient(chosen)
        st.markdown(_in_words(number, chosen))
    for note in reading.notes:
        st.caption(as_text(note))
    show_refused(reading.refused)
    return chosen


def identity(reading: Reading, records: DescribedRecords) -> tuple[object, ...]:
    """What tells these records of a reading from others, without looking at them."""
    return reading.id, st.session_state.get(_part(reading)), records.unit, records.score


def _part(reading: Reading) -> str:
    return f"part_{reading.id}"


def _choose_part(reading: Reading, read: Records) -> Records:
    """Where the file says which part of the data each row is of: one part, or all but the training one."""
    parts = [] if read.splits is None else list(dict.fromkeys(read.splits.tolist()))
    if len(parts) < 2 and not read.left_out:
        return read
    st.caption(as_text(parts_in_words(read.splits, read.left_out)))
    if len(parts) < 2:
        return read
    usual = next((part for part in parts if part.casefold() == "calibration"), ALL_PARTS)
    options, key = [ALL_PARTS, *parts], _part(reading)
    part = st.selectbox("Which part of the file?", options, options.index(usual), key=key, persist_state="session")
    return read if part == ALL_PARTS else of_split(read, part)


def _in_words(read: int, chosen: DescribedRecords) -> str:
    """How many there are of what, and what ε protects: one record, or one patient."""
    patients, used = chosen.patient_count, f"**{len(chosen):,}** used"
    if not chosen.has_patients:
        protects = "no patients are named, so ε protects one record: one patient, if each has one record"
    elif chosen.unit == "patient":
        protects = "ε protects the patient"
    else:
        protects = "ε protects one record, **not** one patient"
    named = "" if patients is None else f" of **{patients:,}** patients"
    classes = as_text(", ".join(class_names(chosen.classes))) or "scores only"
    return f"**{read:,}** records{named} · {used}: {protects} · {classes}"


def read_bundled() -> Reading:
    session.warn_of_other_weights()
    return Reading(DEMO_DATASET, session.bundled_scores("calibration"), id="bundled")


def read_score_file() -> Reading | None:
    """The uploaded file's records; read once, kept until another file is chosen."""
    file = choose.choose_score_file("score_file", on_change=lambda: st.session_state.pop(_SCORES, None))
    with st.expander("What is in a score file?"):
        st.write(
            "One row per record: a probability column for each diagnosis, the true one as `label`, and `patient` where "
            "known. Or a single column `score`: 1 − the probability of the true diagnosis."
        )
        st.code(EXAMPLE, language=None)
    if file is not None and _SCORES not in st.session_state:
        with st.spinner("Reading …"):
            st.session_state[_SCORES] = Reading(shown_name(PurePath(file.name).stem), read_scores(file, score=LAC))
    return st.session_state.get(_SCORES)


def read_xrays() -> Reading | None:
    """The records of a classified folder; None until it is chosen and classified."""
    source, labels = choose.choose_labelled_xrays("calibrate", on_change=forget_xrays)
    known = latest(_JOB, _XRAYS, "X-rays classified:")
    if known is not None:
        st.session_state.pop(_LISTED, None)
    elif source is not None and not is_running(_JOB):
        _offer(_listed(source, labels), proposed_name(source))
    return known


def _listed(source: ChosenXrays, labels: UploadedFile | None) -> XrayFolder:
    if _LISTED not in st.session_state:
        with st.spinner("Looking through the files …"):
            st.session_state[_LISTED] = read_folder(source, labels=labels, classes=session.model_classes())
    return st.session_state[_LISTED]


def _offer(folder: XrayFolder, name: str) -> None:
    """What is in the folder, and a button that classifies it."""
    count = "1 X-ray" if len(folder.xrays) == 1 else f"{len(folder.xrays):,} X-rays"
    st.write(f"{count} found.")
    for note in folder.notes:
        st.caption(as_text(note))
    show_refused(folder.refused)
    if not folder.classes:
        st.error("These X-rays have no labels, and calibrating needs the true diagnosis of each. See above for how.")
        return
    st.caption(
        as_text(f"Labels: {', '.join(class_names(folder.classes))}. Use {session.model_name()} for diagnosis, too.")
    )
    if st.button(f"Classify {count}", key="classify", type="primary"):
        model = session.active_model()
        start_job(_JOB, lambda report: _classified(model, folder, name, report))
        st.rerun()


def _classified(model: "XrayModel", folder: XrayFolder, name: str, report: JobProgress) -> Reading:
    from ppsets_core.model import predict_folder

    predicted = predict_folder(model, folder, progress=report)
    records, unknown = records_of(name, model, predicted)
    note = patients_note(predicted.patients)
    notes = (*folder.notes, *([note] if note else ()))
    return Reading(name, records, (*predicted.refused, *unknown), notes)


def forget_xrays() -> None:
    """Another choice of files, or other weights: what was read, listed or begun before is not about them."""
    for name in (_XRAYS, _LISTED, _JOB):
        st.session_state.pop(name, None)


def read_data_set() -> Reading | None:
    """How many records there are to use; None until that is known. Scores are counted only for a release."""
    st.write(
        "A folder of Parquet files, as `ppsets score` writes them or with the columns of a score file. It may be "
        "larger than memory: it is read in pieces, once to choose the records and once, for a release, to count them."
    )
    path = choose.choose_data_set("calibrate_data_set", on_change=_forget)
    single = choose_one_each("data_set_one_per_patient", _forget)
    executor = server_executor()
    show_cluster(executor)
    known = latest(_READING, _DATA_SET, "Pieces read:")
    if known is not None or is_running(_READING):
        return known
    if st.button("Read this data set", type="primary", key="read_data_set_start", disabled=path is None) and path:
        start_job(_READING, lambda report: _read_data_set(path, executor, not single, report))
        st.rerun()
    return None


def _read_data_set(path: Path, executor: Executor, every: bool, report: JobProgress) -> Reading:
    data_set = open_source(path, score=LAC)
    chosen = select(data_set, all_records=every, executor=executor, progress=report)
    return Reading(shown_name(path.name), replace(chosen, progress=None))


def counting(records: Selection, planned: Plan, ledger: Ledger) -> Callable[[JobProgress], Counts]:
    """Work that counts the records as the plan needs them."""
    executor, cohorts = server_executor(), ledger.cohorts(len(records))
    return lambda progress: replace(records, executor=executor, progress=progress).counts(planned, cohorts)


def _forget() -> None:
    st.session_state.pop(_DATA_SET, None)
    stop_job(_READING)


def load_saved() -> None:
    """Upload, check, show, and use on a click; a simulation is shown as one and stays marked as one."""
    st.write("The JSON file that a calibration saved. Loading it costs no privacy.")
    file = st.file_uploader("Calibration file (JSON)", ["json"], key="saved_calibration", max_upload_size=5)
    if file is None:
        return
    calibration = _read_calibration(file)
    _compare_with_ledger(calibration)
    simulated = isinstance(calibration, Simulation)
    st.write(as_text(f"A {'simulation' if simulated else 'release'}: {describe(calibration)}."))
    in_use = st.session_state.get("saved_in_use") == file.file_id
    if not in_use:
        session.warn_of_other_model(calibration)
    label = "Use this simulation, marked as one" if simulated else "Use this calibration"
    if st.button(label, key="use_saved", type="primary"):
        session.set_active_calibration(calibration, file.name)
        st.session_state["saved_in_use"] = file.file_id
        st.rerun()
    if in_use:
        st.success("In use now.")
        show_calibration(calibration, file.name, key="saved")


def _compare_with_ledger(calibration: Calibration | Simulation) -> None:
    """A release of this machine is known to its ledger, number by number; one of elsewhere cannot be checked."""
    ledger = session.open_ledger()
    if isinstance(calibration, Simulation) or ledger.knows(calibration):
        return
    if ledger.knows_otherwise(calibration):
        raise FileError(
            f"This calibration cannot be used: it was changed since it was released. {REMEDY} "
            "Ledger has the release as it was, for nothing."
        )
    st.warning(
        "The ledger of this machine does not know this release, so nobody can tell here whether the file was changed. "
        "Use it only if you trust where it comes from.",
        icon=":material/help:",
    )


def _read_calibration(file: UploadedFile) -> Calibration | Simulation:
    """At most a few megabytes of UTF-8; everything else is checked by the strict reader."""
    try:
        return read_calibration(file.getvalue()[: LONGEST + 1].decode("utf-8"))
    except UnicodeDecodeError:
        raise FileError(f"This calibration cannot be used: it is not text. {REMEDY}") from None
