"""Private parts of Streamlit: all that we use of them is imported here, and Streamlit is pinned to one version for it.

Which script runs for which session, folders of pages, uploads held in memory, sessions that outlive their tab, and
signed log-in cookies.
"""

import time
from collections.abc import Callable

import streamlit as st
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartParser
from streamlit import runtime
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFile, UploadedFileRec
from streamlit.web.server.starlette.starlette_app_utils import decode_signed_value

from ppsets_core.places import APP

__all__ = ["UploadedFile", "decode_signed_value"]
MOST_MEGABYTES = 2000
"""That one session may hold at a time."""
PATIENCE = 300
"""Seconds after the last file arrived within which a widget must have taken up all of them."""
_arrived: dict[str, float] = {}
_add_file = MemoryUploadedFileManager.add_file


def is_script_run() -> bool:
    """Whether this is a run of a screen; False while the server loads app.py."""
    return get_script_run_ctx(suppress_warning=True) is not None


def run_through_app() -> bool:
    """True where app.py shows this screen; else run app.py, which shows it, and return False.

    Streamlit takes a folder named `pages` for its older kind of app and, until st.navigation has been called once, runs
    a file of it without app.py, its guard and its sidebar."""
    if not PagesManager.uses_pages_directory:
        return True
    exec(compile(APP.read_text(encoding="utf-8"), APP, "exec"), {"__name__": "__main__", "__file__": str(APP)})
    return False


def browser_is_there() -> Callable[[], bool]:
    """Ask whether this session has a browser: a reload or a closed tab leaves it behind. Holds no session."""
    context = get_script_run_ctx()
    session = "" if context is None else context.session_id
    return lambda: not runtime.exists() or runtime.get_instance().is_active_session(session)


def drop_expired_sessions() -> bool:
    """Let go of sessions whose browser is gone for good; whether there were any. Call it on the server's thread.

    Streamlit keeps them for `server.disconnectedSessionTTL` seconds and then until somebody else leaves: the last to go
    in the evening would leave their X-rays in memory for the night."""
    if not runtime.exists():
        return False
    manager = runtime.get_instance()._session_mgr
    with manager._storage_lock:  # type: ignore[attr-defined]
        kept = manager._session_storage._cache  # type: ignore[attr-defined]
        before = len(kept._data)
        return len(kept) < before  # a TTLCache lets go of what has expired when it is asked for its length


def keep_uploads_in_memory() -> None:
    """For all sessions: the web server would write uploads over 1 MB to a temporary file while they arrive."""
    MultiPartParser.spool_max_size = 2_000_000 * st.get_option("server.maxUploadSize")
    MemoryUploadedFileManager.add_file = _add_bounded  # type: ignore[method-assign]


def drop_uploads_of_no_widget() -> None:
    """Let go of this session's files that no widget shows any more: Streamlit would keep them for the session's life.

    What was read from them stays."""
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
        raise HTTPException(413, f"More than {MOST_MEGABYTES:,} MB in one session. Remove some files first.")
    _arrived[file.file_id] = time.monotonic()
    _add_file(self, session_id, file)
