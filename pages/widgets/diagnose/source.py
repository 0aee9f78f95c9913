"""X-rays to diagnose: files, a zip, a folder, or the bundled synthetic ones; classified in the background."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import streamlit as st

from pages.widgets.choose_files import ChosenXrays, choose_xrays, empty_uploader
from pages.widgets.jobs import JobKey, is_running, latest, start_job
from pages.widgets.person import marks_of_person
from pages.widgets.session import active_model, model_loader, who_it_is_for
from pages.widgets.text import as_text
from ppsets_core.diagnose.review import Marks
from ppsets_core.diagnose.xrays import XrayRecords, examine
from ppsets_core.errors import InputError
from ppsets_core.places import ASSETS
from ppsets_core.progress import JobProgress
from ppsets_core.xrays import XrayFolder, read_folder
from ppsets_core.xrays.listing import Source, title_of

if TYPE_CHECKING:
    from ppsets_core.model import XrayModel

SYNTHETIC = tuple(sorted(ASSETS.glob("synthetic_*.png")))
MOST = 5000
KEPT_MEGABYTES = 300
"""Uploads up to this size together are kept for the session, to be looked at closely."""
TOO_LARGE_TO_KEEP = (
    f"Only small pictures are kept of uploads of more than {KEPT_MEGABYTES} MB together. Give fewer at a time to see "
    "them at full resolution."
)
QUICK_MEGABYTES, QUICK_FILES = 30, 100
"""Uploads up to this are classified without being asked for."""
INPUTS = "diagnose_inputs"
"""The state of what the inputs fold into once there are results: True while it is open."""
_JOB, _DONE = JobKey["Examined"]("diagnose_job"), "diagnose_examined"
_FOLD = "diagnose_fold"


@dataclass(frozen=True, eq=False)
class Examined:
    """What this session classified last, from where and with which model; `why_small` where no originals are kept."""

    xrays: XrayRecords
    model: "XrayModel"
    synthetic: bool
    words: str  # what these are the results of, as plain text that is yet to be escaped
    folder: XrayFolder | None
    marks: Marks  # the review, in memory only
    why_small: str = ""
    id: str = field(default_factory=lambda: uuid4().hex)


def classified() -> Examined | None:
    """The X-rays classified last, unless the session's weights have changed since; shows how far others are."""
    if st.session_state.pop(_FOLD, False):
        st.session_state[INPUTS] = False
    done = latest(_JOB, _DONE, "X-rays classified:")
    if done is not None and done.model is not active_model():
        del st.session_state[_DONE]
        st.info("The model has changed since X-rays were classified here. Classify them again.")
        return None
    return done


def choose_source() -> None:
    """Choose X-rays; few enough are classified at once."""
    st.markdown(f":material/child_care: {as_text(who_it_is_for())}")
    source, icon = choose_xrays("diagnose"), ":material/radiology:"
    st.caption("A CSV with the columns `file` and `label` among the files lets the sets be checked.")
    if source is not None and _is_quick(source):
        start(source)
        st.rerun()
    with st.container(horizontal=True):
        off = is_running(_JOB)
        start_it = ("Get prediction sets", "diagnose_start")
        if source is not None and st.button(*start_it, type="primary", disabled=off, icon=icon):
            start(source)
            st.rerun()
        if st.button(f"Use {len(SYNTHETIC)} synthetic X-rays", key="diagnose_synthetic", disabled=off):
            start(None)
            st.rerun()


def _is_quick(source: ChosenXrays) -> bool:
    if isinstance(source, Path) or len(source) > QUICK_FILES:
        return False
    return sum(file.size for file in source) <= QUICK_MEGABYTES * 1_000_000


def start(source: ChosenXrays | None) -> None:
    """Classify in the background what was chosen, the synthetic X-rays where that is nothing."""
    load, marks = model_loader(), marks_of_person()
    given: Source = list(SYNTHETIC) if source is None else source
    held = sum(file.size for file in source) if isinstance(source, list) else 0
    too_large = held > KEPT_MEGABYTES * 1_000_000

    def work(report: JobProgress) -> Examined:
        report.stage = "Loading the model …"
        model, report.stage = load(), ""
        folder = read_folder(given, classes=model.classes, keep_unlabelled=True)
        if len(folder.xrays) > MOST:
            raise InputError(
                f"{len(folder.xrays):,} X-rays are more than the {MOST:,} that one screen can hold. "
                "Give fewer, or run `ppsets predict` on the folder."
            )
        found = examine(model, folder, progress=report)
        kept, why_small = (None, TOO_LARGE_TO_KEEP) if too_large else (folder, "")
        return Examined(found, model, source is None, _words(len(found), source), kept, marks, why_small)

    st.session_state[_FOLD] = True
    empty_uploader("diagnose", source)
    start_job(_JOB, work)


def _words(count: int, source: ChosenXrays | None) -> str:
    what = "X-ray" if count == 1 else "X-rays"
    if source is None:
        return f"{count} synthetic {what}"
    is_one_thing = isinstance(source, Path) or (len(source) == 1 and count > 1)
    return f"{count:,} {what} of {title_of(source)}" if is_one_thing else f"{count:,} {what}"
