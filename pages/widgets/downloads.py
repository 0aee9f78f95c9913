"""Downloads: every file that a screen hands out."""

from collections.abc import Callable
from pathlib import PurePath

import streamlit as st

_TYPES = {".csv": "text/csv", ".html": "text/html", ".json": "application/json", ".zip": "application/zip"}
_ICONS = {".html": ":material/description:", ".zip": ":material/folder_zip:"}


def offer_download(
    label: str, data: str | bytes | Callable[[], str | bytes], name: str, key: str, help: str | None = None
) -> None:
    """A button that hands out a file and leaves the screen as it is; a callable is called only when it is pressed."""
    ending = PurePath(name).suffix
    st.download_button(
        label,
        data,
        name,
        _TYPES.get(ending, "application/octet-stream"),
        key=key,
        help=help,
        on_click="ignore",
        icon=_ICONS.get(ending, ":material/download:"),
    )
