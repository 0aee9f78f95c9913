"""Data sets of the server: folders of Parquet below its configured data directory, for curators."""

import os
from collections.abc import Callable
from pathlib import Path

import streamlit as st

from pages.widgets.person import may
from pages.widgets.xray_upload import data_directory, inside
from ppsets_core.access import CURATOR

_MOST_LISTED, _DEEPEST = 500, 3


def data_sets() -> list[str]:
    """Their names below the data directory; none where it is not configured, and for those who may not calibrate."""
    base = data_directory() if may(CURATOR) else None
    return [] if base is None else _below(base)


def choose_data_set(key: str, on_change: Callable[[], None] | None = None) -> Path | None:
    base = data_directory()
    name = st.selectbox(
        "Data set below the server's data directory",
        data_sets(),
        index=None,
        key=key,
        on_change=on_change,
        placeholder="Choose a folder of Parquet",
    )
    return inside(base, name) if name and base is not None else None


def below_data_directory(path: Path) -> str:
    base = data_directory()
    return path.as_posix() if base is None else path.relative_to(base.resolve()).as_posix()


def _below(base: Path) -> list[str]:
    """Folders with Parquet files in them, and the folders that hold several such; links are left out."""
    found: dict[str, int] = {}
    for folder, names, files in os.walk(base):
        place = Path(folder).relative_to(base)
        names[:] = sorted(n for n in names if not n.startswith((".", "_")) and not Path(folder, n).is_symlink())
        if len(place.parts) >= _DEEPEST:
            names.clear()
        if any(f.lower().endswith(".parquet") and not f.startswith((".", "_")) for f in files):
            found[place.as_posix()] = 2
            for parent in place.parents:
                found[parent.as_posix()] = found.get(parent.as_posix(), 0) + 1
        if len(found) > _MOST_LISTED:
            break
    return sorted(name for name, times in found.items() if times > 1 and name != ".")[:_MOST_LISTED]
