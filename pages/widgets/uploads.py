"""Uploads stay in memory: the web server would write those over 1 MB to a temporary file while they arrive."""

import streamlit as st
from starlette.formparsers import MultiPartParser


def keep_uploads_in_memory() -> None:
    """For all sessions of this server. Streamlit holds an upload in memory anyway and refuses larger ones."""
    MultiPartParser.spool_max_size = 2_000_000 * st.get_option("server.maxUploadSize")
