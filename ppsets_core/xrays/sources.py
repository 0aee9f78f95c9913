"""One listing from whatever names X-rays: a directory, a zip, a file, an upload, or several of them."""

import io
import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from ppsets_core.errors import FileError
from ppsets_core.files import Refused
from ppsets_core.files.handles import FileLike, is_rewindable, name_of, read_bytes
from ppsets_core.files.names import is_clutter, relative_name, shown_name
from ppsets_core.xrays.archive import list_archive
from ppsets_core.xrays.directory import list_directory
from ppsets_core.xrays.formats import ZIP_STARTS
from ppsets_core.xrays.limits import MAX_BYTES
from ppsets_core.xrays.listing import Entry, Listing, check_count, joined

One = str | Path | FileLike
Source = One | Sequence[One]


def list_source(source: Source) -> Listing:
    """The files of a source, each with a name of its own that is fit to show, relative to the source.

    Raises FileError if the source itself cannot be opened.
    """
    items = [_rewindable(item) for item in _items(source)]
    if len(items) == 1:
        return joined([_list_one(items[0])])
    check_count(len(items), "The selection")
    return joined(_list_member(item, name) for item, name in zip(items, _names(items), strict=True) if name)


def title_of(source: Source) -> str:
    """What to call the source in a message."""
    items = _items(source)
    return shown_name(name_of(items[0]) or "the upload") if len(items) == 1 else f"the {len(items)} files given"


def _items(source: Source) -> Sequence[One]:
    if isinstance(source, (str, bytes, Path)) or not isinstance(source, Sequence):
        return [source]
    return source


def _list_one(item: One) -> Listing:
    """A directory's or a zip's files, or the file itself."""
    name = relative_name(name_of(item) or "X-ray")
    if isinstance(item, (str, Path)) and Path(item).is_dir():
        return list_directory(Path(item))
    try:
        is_zip = read_bytes(item, 4) in ZIP_STARTS
    except FileError as error:
        raise FileError(f"{shown_name(name)}: {error}") from error.__cause__
    if is_zip:
        return list_archive(item, name)
    return Listing((_loose(item, name if isinstance(item, (str, Path)) else _upload_name(item) or name),))


def _list_member(item: One, name: str) -> Listing:
    """One of several: a directory or zip becomes a folder of the whole, and a bad one does not take the others down."""
    is_folder = isinstance(item, (str, Path)) and Path(item).is_dir()
    try:
        is_zip = not is_folder and read_bytes(item, 4) in ZIP_STARTS
    except FileError:
        is_zip = False
    if not is_folder and not is_zip:
        return Listing((_loose(item, name),))
    try:
        return _list_one(item).named_inside(Path(name).stem if is_zip else name)
    except FileError as error:
        return Listing((), (Refused(name, str(error)),))


def _loose(item: One, name: str) -> Entry:
    """A file that was given by itself: below the folder that was picked for upload, or by its path."""
    if isinstance(item, (str, Path)):
        path = Path(os.path.abspath(item))
        return Entry(name, partial(read_bytes, item), path.name, path.parent.as_posix())
    picked = relative_name(name_of(item) or "").removesuffix(name).rstrip("/")
    return Entry(name, partial(read_bytes, item), name, picked)


def _rewindable(item: One) -> One:
    """A stream that can be read but once (a pipe) is read now, for listing and decoding both start at the beginning."""
    is_open = hasattr(item, "read") and not getattr(item, "closed", False)
    if not is_open or is_rewindable(item):
        return item
    copy = io.BytesIO(read_bytes(item, MAX_BYTES + 1))
    copy.name = name_of(item) or "X-ray"
    return copy


def _names(items: Sequence[One]) -> list[str]:
    """A name each, for people: paths from the folder they share, uploads by their own, '' if that is clutter."""
    paths = [os.path.abspath(item) for item in items if isinstance(item, (str, Path))]
    shared = os.path.commonpath([os.path.dirname(path) for path in paths]) if paths else ""
    return [
        Path(os.path.relpath(os.path.abspath(item), shared)).as_posix()
        if isinstance(item, (str, Path))
        else _upload_name(item)
        for item in items
    ]


def _upload_name(item: FileLike) -> str:
    """A directory upload names every file from the folder that was picked: that folder is the source, not a label."""
    name = (relative_name(name_of(item) or "") or "X-ray").split("/", 1)[-1]
    return "" if is_clutter(name) else name
