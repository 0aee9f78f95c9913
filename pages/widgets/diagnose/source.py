"""X-rays to diagnose: files, a zip, a folder, or the bundled synthetic ones; classified in the background."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import streamlit as st

from pages.widgets.choose_files import ChosenXrays, choose_xrays
from pages.widgets.jobs import JobKey, is_running, latest, start_job
from pages.widgets.person import marks_of_person
from pages.widgets.session import active_model, model_name
from pages.widgets.text import as_text
from ppsets_core.background import JobProgress
from ppsets_core.diagnose.review import Marks
from ppsets_core.diagnose.xrays import XrayRecords, examine
from ppsets_core.errors import InputError
from ppsets_core.places import ASSETS
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
_JOB, _DONE = JobKey["Examined"]("diagnose_job"), "diagnose_examined"


@dataclass(frozen=True, eq=False)
class Examined:
    """What this session classified last, from where and with which model; `why_small` where no originals are kept."""

    xrays: XrayRecords
    model: "XrayModel"
    synthetic: bool
    chosen: tuple[str, ...]  # names the files that were given, for this session only
    words: str  # what these are the results of, as plain text that is yet to be escaped
    folder: XrayFolder | None
    marks: Marks  # the review, in memory only
    why_small: str = ""
    id: str = field(default_factory=lambda: uuid4().hex)


def examined() -> Examined | None:
    """What to show: the X-rays classified last, unless the session's weights have changed since."""
    left, right = st.columns([2, 1])
    with left:
        source = choose_xrays("diagnose")
        off, icon = source is None or is_running(_JOB), ":material/radiology:"
        if st.button("Get prediction sets", type="primary", key="diagnose_start", disabled=off, icon=icon) and source:
            _start(source)
    with right.container(border=True):
        st.markdown("**No X-rays at hand?**")
        st.caption(f"{len(SYNTHETIC)} synthetic X-rays come with the app. Computer-generated, not real patients.")
        if st.button("Use the synthetic X-rays", key="diagnose_synthetic", disabled=not SYNTHETIC or is_running(_JOB)):
            _start(None)
    done = latest(_JOB, _DONE, "X-rays classified:")
    if done is not None and done.model is not active_model():
        del st.session_state[_DONE]
        st.info("The model has changed since X-rays were classified here. Classify them again.")
        return None
    if done is not None:
        st.subheader(as_text(f"Results of {done.words}"), anchor=False)
        if source is not None and _identity(source) != done.chosen:
            words = "What is chosen above is something else, and not classified yet: these are the earlier results."
            st.warning(words, icon=":material/history:")
    return done


def _identity(source: ChosenXrays) -> tuple[str, ...]:
    return (str(source),) if isinstance(source, Path) else tuple(file.file_id for file in source)


def _start(source: ChosenXrays | None) -> None:
    """Classify what was chosen, the synthetic X-rays where that is nothing."""
    model, name, marks = active_model(), model_name(), marks_of_person()
    given: Source = list(SYNTHETIC) if source is None else source
    title = "the synthetic X-rays" if source is None else title_of(given)
    identity = () if source is None else _identity(source)
    held = sum(file.size for file in source) if isinstance(source, list) else 0
    too_large = held > KEPT_MEGABYTES * 1_000_000

    def work(report: JobProgress) -> Examined:
        folder = read_folder(given, classes=model.classes, keep_unlabelled=True)
        if len(folder.xrays) > MOST:
            raise InputError(
                f"{len(folder.xrays):,} X-rays are more than the {MOST:,} that one screen can hold. "
                "Give fewer, or run `ppsets predict` on the folder."
            )
        found = examine(model, folder, progress=report)
        words = f"{title}, classified with {name}"
        kept, why_small = (None, TOO_LARGE_TO_KEEP) if too_large else (folder, "")
        return Examined(found, model, source is None, identity, words, kept, marks, why_small)

    start_job(_JOB, work)
    st.rerun()
