"""Sessions that were left behind, by a closed tab or a reload: what they held goes, X-rays above all.

Streamlit keeps them for `server.disconnectedSessionTTL` seconds, for browsers that come back, and after that until
somebody else leaves: the last to go in the evening would leave their X-rays in memory for the night."""

import asyncio
import gc

import streamlit as st
from streamlit import runtime

from ppsets_core.memory import give_back


async def let_go_of_sessions() -> None:
    """For as long as the server runs."""
    while True:
        await asyncio.sleep(max(1, st.get_option("server.disconnectedSessionTTL") / 4))
        if runtime.exists() and _drop_expired():
            gc.collect()
            give_back()


def _drop_expired() -> bool:
    """Whether there were any. Called on the server's own thread, as everything else that touches kept sessions."""
    manager = runtime.get_instance()._session_mgr
    with manager._storage_lock:  # type: ignore[attr-defined]
        kept = manager._session_storage._cache  # type: ignore[attr-defined]
        before = len(kept._data)
        return len(kept) < before  # a TTLCache lets go of what has expired when it is asked for its length
