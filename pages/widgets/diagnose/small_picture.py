"""An X-ray's small picture, sent within the page: it has no address, so nobody else can ask the server for it."""

from base64 import b64encode

import streamlit as st


def show_small(jpeg: bytes, words: str) -> None:
    """`words` tell who cannot see it what it is; they are ours, never a file's name."""
    source = f"data:image/jpeg;base64,{b64encode(jpeg).decode('ascii')}"
    st.html(f'<img class="xray" alt="{words}" src="{source}">')
