"""Calibration records from labelled X-rays: list them, show what is there, classify them on request."""

from typing import TYPE_CHECKING

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from pages.widgets.active_model import active_model, model_classes, model_name
from pages.widgets.calibrate.reading import Reading, forget, remember, remembered
from pages.widgets.jobs import JobKey, collect, is_running, show_progress, start_job
from pages.widgets.refused import show_refused
from pages.widgets.text import as_text
from pages.widgets.xray_upload import Chosen, choose_xrays, proposed_name
from ppsets_core.background import JobProgress
from ppsets_core.model.folder_records import patients_note, records_of
from ppsets_core.xrays import XrayFolder, read_folder

if TYPE_CHECKING:
    from ppsets_core.model import XrayModel

_LISTED, _JOB = "xrays_listed", JobKey[Reading]("classify_calibration")


def read_xrays() -> Reading | None:
    """The records of a classified folder; None until it is chosen and classified."""
    st.write(
        "Labelled X-rays. The label of each is the name of a folder above it (normal, …), or stands in a CSV among the "
        "files with the columns `file`, `label` and, where known, `patient`."
    )
    source = choose_xrays("calibrate", on_change=forget_xrays)
    labels = st.file_uploader(
        "Labels (optional): CSV with file, label, patient",
        ["csv", "tsv"],
        key="calibrate_labels",
        on_change=forget_xrays,
    )
    if is_running(_JOB):
        show_progress(_JOB, "X-rays classified:")
        return None
    if (classified := collect(_JOB)) is not None:
        remember("xrays", classified)
        st.session_state.pop(_LISTED, None)
    if (known := remembered("xrays")) is not None:
        return known
    if source is not None:
        _offer(_listed(source, labels), proposed_name(source))
    return None


def _listed(source: Chosen, labels: UploadedFile | None) -> XrayFolder:
    if _LISTED not in st.session_state:
        with st.spinner("Looking through the files …"):
            st.session_state[_LISTED] = read_folder(source, labels=labels, classes=model_classes())
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
    st.caption(as_text("Labels: " + ", ".join(folder.classes)))
    st.caption(as_text(f"They are classified by {model_name()}: use the same weights for diagnosis."))
    if st.button(f"Classify {count}", key="classify", type="primary"):
        model = active_model()
        start_job(_JOB, lambda report: _classified(model, folder, name, report))
        st.rerun()


def _classified(model: "XrayModel", folder: XrayFolder, name: str, report: JobProgress) -> Reading:
    from ppsets_core.model import predict_folder

    total = len(folder.xrays)
    report(0, total)
    predicted = predict_folder(model, folder, progress=lambda done: report(done, total))
    records, unknown = records_of(name, model, predicted)
    note = patients_note(predicted.patients)
    notes = (*folder.notes, *([note] if note else ()))
    return Reading(name, records, (*predicted.refused, *unknown), notes)


def forget_xrays() -> None:
    """Another choice of files, or other weights: what was read, listed or begun before is not about them."""
    forget("xrays")
    st.session_state.pop(_LISTED, None)
    st.session_state.pop(_JOB, None)
