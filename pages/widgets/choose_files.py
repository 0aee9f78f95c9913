"""Choosing files: which scores uploaders take, X-rays, and what is below the server's data directory."""

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path, PurePath
from typing import Literal

import streamlit as st

from pages.widgets.person import may
from pages.widgets.settings import kept
from pages.widgets.streamlit_parts import MOST_MEGABYTES, UploadedFile, drop_uploads
from ppsets_core import InputError
from ppsets_core.access import CURATOR
from ppsets_core.files.names import shown_name

SCORES = ["csv", "tsv", "txt", "npy", "npz", "parquet", "json"]
TABLES = [ending for ending in SCORES if ending != "npy"]
"""Of a model's probabilities: an NPY file holds one score per record."""
LARGEST_MB = 100
ChosenXrays = Path | list[UploadedFile]
FILES, FOLDER, SERVER = "Files or a zip", "A folder", "On the server"
TYPES = ["png", "jpg", "jpeg", "tif", "tiff", "dcm", "dicom", "zip", "csv", "tsv"]
ITSELF = "the data directory itself"
_MOST_LISTED = 500


def choose_one(
    label: str, options: Sequence[str], key: str, on_change: Callable[[], None] | None = None, first: str | None = None
) -> str:
    """One of a few in a row, kept for the session; the first is chosen unless another is named."""
    first = first or options[0]
    return st.segmented_control(
        label, options, default=first, required=True, key=key, on_change=on_change, persist_state="session"
    )


def choose_score_file(key: str, on_change: Callable[[], None]) -> UploadedFile | None:
    label = "Score file: CSV, TSV, NPY, NPZ, Parquet or JSON"
    return st.file_uploader(label, SCORES, key=key, max_upload_size=LARGEST_MB, on_change=on_change)


def choose_xrays(key: str, *, on_change: Callable[[], None] | None = None) -> ChosenXrays | None:
    """What `read_folder` takes, or None while nothing is chosen. `on_change` hears of every other choice."""
    base = data_directory() if may(CURATOR) else None
    ways = [FILES, FOLDER, SERVER] if base else [FILES, FOLDER]
    way = choose_one("Where are the X-rays?", ways, f"{key}_way", on_change)
    if base is not None and way == SERVER:
        return _choose_below(base, "Folder or zip", folders_below(base), f"{key}_server", on_change)
    several: Literal[True, "directory"] = "directory" if way == FOLDER else True
    label = {FILES: "X-rays: PNG, JPEG, TIFF, DICOM, several at once or one zip", FOLDER: "Folder of X-rays"}[way]
    accepted = TYPES if way == FILES else None
    files = st.file_uploader(label, accepted, several, key=f"{key}_{way}{kept(_round(key), 0)}", on_change=on_change)
    _check_total(files)
    return list(files) or None


def empty_uploader(key: str, chosen: ChosenXrays | None) -> None:
    """What was chosen is in use; files chosen next take its place instead of joining it."""
    st.session_state[_round(key)] = kept(_round(key), 0) + 1
    drop_uploads(chosen if isinstance(chosen, list) else ())


def _round(key: str) -> str:
    return f"{key}_round"


def choose_labelled_xrays(
    key: str, on_change: Callable[[], None] | None = None
) -> tuple[ChosenXrays | None, UploadedFile | None]:
    """X-rays, and the table of their labels where one is given."""
    st.write(
        "The label of each X-ray is the name of a folder above it (normal, …), or is in a CSV with the columns `file`, "
        "`label` and, where known, `patient`."
    )
    source, words = choose_xrays(key, on_change=on_change), "Labels (optional): CSV with file, label, patient"
    return source, st.file_uploader(words, ["csv", "tsv"], key=f"{key}_labels", on_change=on_change)


def proposed_name(source: ChosenXrays) -> str:
    """The folder's or the zip's own name, to propose for the account."""
    first = source if isinstance(source, Path) else PurePath(source[0].name)
    if isinstance(source, Path) or len(source) == 1:
        return shown_name(first.stem)
    return shown_name(first.parts[0]) if len(first.parts) > 1 else "X-rays"


def _check_total(files: Sequence[UploadedFile]) -> None:
    """One upload is bounded by the server; many together are bounded here, for all of them are held in memory."""
    if sum(file.size for file in files) > MOST_MEGABYTES * 1_000_000:
        raise InputError(
            f"These files have more than {MOST_MEGABYTES:,} MB together, which is too much for one upload. Take some "
            "away with the crosses, give fewer at a time, or use a folder of the server or the command line."
        )


def data_directory() -> Path | None:
    """The directory that PPSETS_DATA names; without it no folder of the server can be read."""
    configured = os.environ.get("PPSETS_DATA", "").strip()
    return Path(configured).resolve() if configured and Path(configured).is_dir() else None


def folders_below(base: Path) -> list[str]:
    """The directory itself, its folders and zips, two levels down, by relative name."""
    found = [place / file for place, files in _places(base, 2) for file in ("", *files) if not file or _is_zip(file)]
    return sorted(path.as_posix() for path in found)


def _is_zip(file: str) -> bool:
    return file.lower().endswith(".zip")


def _places(base: Path, deepest: int) -> Iterator[tuple[Path, list[str]]]:
    """The first folders below the directory, with their files; what is hidden, and links, are left out."""
    for folder, names, files in islice(os.walk(base), _MOST_LISTED):
        place = Path(folder).relative_to(base)
        for listed in (names, files):
            listed[:] = sorted(n for n in listed if n[0] not in "._" and not Path(folder, n).is_symlink())
        if len(place.parts) >= deepest:
            names.clear()
        yield place, files


def inside(base: Path, name: str) -> Path:
    """A name below the data directory as a path; anything that leads out of it is refused."""
    path = (base / name).resolve()
    if not path.is_relative_to(base.resolve()) or not path.exists():
        raise InputError("This folder is not below the server's data directory. Choose one of the list.")
    return path


def _choose_below(
    base: Path, label: str, names: list[str], key: str, on_change: Callable[[], None] | None
) -> Path | None:
    look = (f"{label} below the server's data directory", names, None, lambda n: ITSELF if n == "." else n, key)
    name = st.selectbox(*look, on_change=on_change, placeholder="Choose one")
    return inside(base, name) if name else None


def data_sets() -> list[str]:
    """Their names below the data directory; none where it is not configured, and for those who may not calibrate."""
    base = data_directory() if may(CURATOR) else None
    return [] if base is None else _below(base)


def choose_data_set(key: str, on_change: Callable[[], None] | None = None) -> Path | None:
    base = data_directory()
    return None if base is None else _choose_below(base, "Data set", data_sets(), key, on_change)


def below_data_directory(path: Path) -> str:
    base = data_directory()
    return path.as_posix() if base is None else path.relative_to(base.resolve()).as_posix()


def _below(base: Path) -> list[str]:
    """Folders with Parquet files in them, and the folders that hold several such."""
    own = [place for place, files in _places(base, 3) if any(f.lower().endswith(".parquet") for f in files)]
    above = Counter(parent for place in own for parent in place.parents)
    found = {*own, *(place for place, times in above.items() if times > 1)} - {Path()}
    return sorted(place.as_posix() for place in found)
