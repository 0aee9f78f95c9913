"""Calibration records as this browser session read them, what was left out, and what one record stands for."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass, field

import streamlit as st

from pages.widgets.text import as_text, show_refused
from ppsets_core import Records, one_per_patient
from ppsets_core.data import of_split
from ppsets_core.data.counts import DescribedRecords, Selection
from ppsets_core.data.source import parts_in_words
from ppsets_core.files import Refused
from ppsets_core.wording import class_names

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
    return st.toggle(ONE_EACH, True, key=key, on_change=on_change, persist_state="session", help=ONE_EACH_HELP)


def summarise(reading: Reading) -> DescribedRecords:
    """Say what was read, before anything is spent, and return the records to calibrate with."""
    chosen = reading.records
    if isinstance(chosen, Selection):
        number = chosen.read
    else:
        assert isinstance(chosen, Records)
        chosen = _choose_part(reading, chosen)
        number = len(chosen)
        if chosen.patients is not None and choose_one_each("one_per_patient"):
            chosen = one_per_patient(chosen)
    _numbers(number, chosen)
    st.write(_protection(chosen))
    for note in reading.notes:
        st.caption(as_text(note))
    show_refused(reading.refused)
    return chosen


def _choose_part(reading: Reading, read: Records) -> Records:
    """Where the file says which part of the data each row is of: one part, or all but the training one."""
    if read.splits is None:
        return read
    parts = list(dict.fromkeys(read.splits.tolist()))
    st.caption(as_text(parts_in_words(read.splits, read.left_out)))
    if len(parts) < 2:
        return read
    usual = next((part for part in parts if part.casefold() == "calibration"), ALL_PARTS)
    options, key = [ALL_PARTS, *parts], f"part_{reading.id}"
    part = st.selectbox("Which part of the file?", options, options.index(usual), key=key, persist_state="session")
    return read if part == ALL_PARTS else of_split(read, part)


def _numbers(read: int, chosen: DescribedRecords) -> None:
    patients = chosen.patient_count
    with st.container(horizontal=True, gap="medium"):
        st.metric("Records read", f"{read:,}", width="content")
        st.metric("Patients", "unknown" if patients is None else f"{patients:,}", width="content")
        st.metric("Diagnoses", len(chosen.classes) or "scores only", width="content")
        st.metric("Records used", f"{len(chosen):,}", help="n in the formulas. It is public.", width="content")
    if chosen.classes:
        st.caption("Diagnoses: " + as_text(", ".join(class_names(chosen.classes))))


def _protection(chosen: DescribedRecords) -> str:
    """Say what ε protects: one record, or one patient."""
    if not chosen.has_patients:
        return "Patients are not named, so ε protects one record: one patient, if each patient has one record."
    if chosen.unit == "patient":
        return "One record of each patient is used, so ε protects the patient."
    return "Every record of a patient is used, so ε protects one record, **not** one patient."
