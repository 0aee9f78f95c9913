"""Uploads stay in memory, as many as a session may hold and as long as a widget of its screen holds them.

The web server would write those over 1 MB to a temporary file while they arrive; Streamlit keeps every file that was
ever sent to a session, also by a browser that shows no widget for it."""

import time

import streamlit as st
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartParser
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFile, UploadedFileRec

MOST_MEGABYTES = 2000
"""That one session may hold at a time."""
PATIENCE = 300
"""Seconds after the last file arrived within which a widget must have taken up all: a browser sends several, then says
so."""
_arrived: dict[str, float] = {}
_add_file = MemoryUploadedFileManager.add_file


def keep_uploads_in_memory() -> None:
    """For all sessions of this server. Streamlit holds an upload in memory anyway and refuses larger ones."""
    MultiPartParser.spool_max_size = 2_000_000 * st.get_option("server.maxUploadSize")
    MemoryUploadedFileManager.add_file = _add_bounded  # type: ignore[method-assign]


def drop_uploads_of_no_widget() -> None:
    """Let go of this session's files that no widget shows any more. What was read from them stays."""
    if (context := get_script_run_ctx()) is None:
        return
    held = [value if isinstance(value, list) else [value] for value in st.session_state.values()]
    shown = {file.file_id for files in held for file in files if isinstance(file, UploadedFile)}
    manager, session = context.uploaded_file_mgr, context.session_id
    if isinstance(manager, MemoryUploadedFileManager):
        held_files, now = list(manager.file_storage.get(session, {})), time.monotonic()
        last = max((_arrived.setdefault(file, now) for file in held_files), default=now)
        for file in held_files:
            if file not in shown and now - last > PATIENCE:
                manager.remove_file(session, file)
                _arrived.pop(file, None)


def _add_bounded(self: MemoryUploadedFileManager, session_id: str, file: UploadedFileRec) -> None:
    files = list(self.file_storage.get(session_id, {}).values())
    if sum(len(one.data) for one in files) + len(file.data) > MOST_MEGABYTES * 1_000_000:
        raise HTTPException(413, f"More than {MOST_MEGABYTES:,} MB in one session. Take some files away first.")
    _arrived[file.file_id] = time.monotonic()
    _add_file(self, session_id, file)
