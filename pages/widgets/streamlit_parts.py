"""Private parts of Streamlit: all that we use of them is imported here, and Streamlit is pinned to one version for it.

Which script runs for which session, folders of pages, uploads held in memory, sessions that outlive their tab, messages
of browsers, and signed log-in cookies.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterable

import streamlit as st
from starlette.formparsers import MultiPartParser
from streamlit import runtime
from streamlit.auth_util import get_cookie_with_chunks
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFile
from streamlit.web.server.starlette.starlette_app_utils import decode_signed_value

from ppsets_core.places import APP

__all__ = ["UploadedFile", "decode_signed_value", "get_cookie_with_chunks"]
MOST_MEGABYTES, MOST_MEGABYTES_TOGETHER = 2000, 4000
"""Uploads that one session, and all together, may hold at a time."""
PATIENCE = 300
"""Seconds after the last file arrived within which a widget must have taken up all of them."""
STRANGERS_BUTTONS = ("-log_in", "-log_out")
_arrived: dict[str, float] = {}
_shown: dict[str, set[str]] = {}


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


def has_room(session: str, arriving: Counter[str]) -> bool:
    """Whether this session, and the server, may hold what is on its way, in bytes by session, besides what they do."""
    held = arriving.copy()
    for name, files in manager.file_storage.items() if (manager := _uploads()) is not None else ():
        held[name] += sum(len(one.data) for one in files.values())
    return held[session] <= MOST_MEGABYTES * 1_000_000 and held.total() <= MOST_MEGABYTES_TOGETHER * 1_000_000


def note_shown_uploads() -> None:
    """At the start of a run: which of this session's files a widget shows."""
    if (context := get_script_run_ctx()) is not None:
        held = [value if isinstance(value, list) else [value] for value in st.session_state.values()]
        _shown[context.session_id] = {one.file_id for files in held for one in files if isinstance(one, UploadedFile)}


def drop_uploads(files: Iterable[UploadedFile]) -> None:
    """Free this session's uploads that no widget will show again. Work that reads one keeps it until it is done."""
    if (manager := _uploads()) is not None and (context := get_script_run_ctx()) is not None:
        for file in files:
            manager.remove_file(context.session_id, file.file_id)


def drop_uploads_of_no_widget() -> bool:
    """Let go of files that no widget has shown for a while; whether there were any. What was read from them stays.

    Streamlit would keep them for the session's life, and a session that is silent is never run."""
    if (manager := _uploads()) is None:
        return False
    now, dropped, held = time.monotonic(), False, {name: list(files) for name, files in manager.file_storage.items()}
    for session, files in held.items():
        last = max((_arrived.setdefault(file, now) for file in files), default=now)
        if now - last > PATIENCE:
            for file in set(files) - _shown.get(session, set()):
                manager.remove_file(session, file)
                dropped = True
    for known, kept in ((_arrived, {file for files in held.values() for file in files}), (_shown, held)):
        for gone in known.keys() - kept:
            known.pop(gone, None)
    return dropped


def as_a_strangers(message: bytes) -> bytes | None:
    """What of a browser's message counts where nobody is logged in: to run the app as a whole, and the two buttons of
    the log-in. None if nothing does. A fragment would be drawn, and any other button heard, for nobody knows whom."""
    try:
        asked = BackMsg.FromString(message)
    except Exception:  # no message of Streamlit's
        return None
    if asked.WhichOneof("type") != "rerun_script":
        return None
    pressed = [one for one in asked.rerun_script.widget_states.widgets if one.trigger_value]
    for name in ("fragment_id", "is_auto_rerun", "widget_states"):
        asked.rerun_script.ClearField(name)
    asked.rerun_script.widget_states.widgets.extend(one for one in pressed if one.id.endswith(STRANGERS_BUTTONS))
    return asked.SerializeToString()


def _uploads() -> MemoryUploadedFileManager | None:
    manager = runtime.get_instance().uploaded_file_mgr if runtime.exists() else None
    return manager if isinstance(manager, MemoryUploadedFileManager) else None
