"""The files of a directory, a zip, an upload or several of them, by name; none of them is read yet.

Links out of a directory are not followed, and nothing in a zip is ever extracted to disk."""

import io
import os
import stat
import weakref
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from ppsets_core.errors import FileError
from ppsets_core.files.handles import ENCRYPTED, READABLE, FileLike, is_rewindable, name_of, open_zip, read_bytes
from ppsets_core.files.names import is_clutter, relative_name, shown_name
from ppsets_core.xrays.limits import MAX_BYTES, MAX_FILES, TOO_MANY_BYTES

MAX_DIRECTORY_BYTES = 256 * MAX_FILES
MAX_TOTAL_BYTES = 50_000_000_000
MAX_RATIO, RATIO_MATTERS_FROM = 200, 10_000_000
REPACK = "Pack the zip again with the ordinary 'deflate' method and without a password."
ZIP_STARTS = (b"PK\x03\x04", b"PK\x05\x06")

One = str | Path | FileLike
Source = One | Sequence[One]


@dataclass(frozen=True)
class Entry:
    """One file of a source.

    `name` is unique and fit to show; `read` gives its first so many bytes or raises FileError. Labels go by `path`
    within the folder or zip that was given, and by `given_in`, where that folder is or the zip's name: no other file
    changes them. `file` is the file on disk, which another process can open too; None in a zip or an upload. `problem`
    says why it cannot be used."""

    name: str
    read: Callable[[int], bytes]
    path: str = ""
    given_in: str = ""
    file: Path | None = None
    problem: str = ""


def list_source(source: Source, *, skip_unopened: bool = False) -> list[Entry]:
    """The files of a source, each with a unique name relative to it. FileError if the source cannot be opened.

    skip_unopened: refuse a zip or folder that cannot be opened by itself if it is one of several."""
    items = [_rewindable(item) for item in _items(source)]
    if len(items) == 1:
        return _named(_list_one(items[0]))
    _check_count(len(items), "The selection")
    names = zip(items, _names(items), strict=True)
    return _named(entry for item, name in names if name for entry in _list_member(item, name, skip_unopened))


def title_of(source: Source) -> str:
    """What to call the source in a message."""
    items = _items(source)
    return shown_name(name_of(items[0]) or "the upload") if len(items) == 1 else f"the {len(items)} files given"


def _items(source: Source) -> Sequence[One]:
    if isinstance(source, (str, bytes, Path)) or not isinstance(source, Sequence):
        return [source]
    return source


def _rewindable(item: One) -> One:
    """Read a stream that can be read only once (a pipe) now, as listing and decoding both start at the beginning."""
    is_open = hasattr(item, "read") and not getattr(item, "closed", False)
    if not is_open or is_rewindable(item):
        return item
    copy = io.BytesIO(read_bytes(item, MAX_BYTES + 1))
    copy.name = name_of(item) or "X-ray"
    return copy


def _check_count(number: int, where: str) -> None:
    if number > MAX_FILES:
        raise FileError(f"{where}: more than {MAX_FILES:,} files. Split it.")


def _named(entries: Iterable[Entry]) -> list[Entry]:
    """With names fit to show; a repeated name gets a number."""
    named: dict[str, Entry] = {}
    times: Counter[str] = Counter()
    for entry in entries:
        name = shown = shown_name(entry.name)
        while name in named:
            times[shown] += 1
            name = f"{shown} ({times[shown] + 1})"
        named[name] = replace(entry, name=name, path=shown_name(entry.path))
        _check_count(len(named), "The selection")
    return list(named.values())


def _list_one(item: One) -> list[Entry]:
    """A directory's or a zip's files, or the file itself."""
    name = relative_name(name_of(item) or "X-ray")
    if isinstance(item, (str, Path)) and Path(item).is_dir():
        return _list_directory(Path(item))
    try:
        is_zip = read_bytes(item, 4) in ZIP_STARTS
    except FileError as error:
        raise FileError(f"{shown_name(name)}: {error}") from error.__cause__
    if is_zip:
        return _list_archive(item, name)
    return [_loose(item, name if isinstance(item, (str, Path)) else _upload_name(item) or name)]


def _list_member(item: One, name: str, skip_unopened: bool) -> list[Entry]:
    """One of several: a directory or zip becomes a folder of the whole."""
    is_folder = isinstance(item, (str, Path)) and Path(item).is_dir()
    try:
        is_zip = not is_folder and read_bytes(item, 4) in ZIP_STARTS
    except FileError:
        is_zip = False
    if not is_folder and not is_zip:
        return [_loose(item, name)]
    try:
        listed = _list_one(item)
    except FileError as error:
        if not skip_unopened:
            raise
        return [Entry(name, partial(read_bytes, item), problem=str(error))]
    folder = Path(name).stem if is_zip else name
    return [replace(entry, name=f"{folder}/{entry.name}") for entry in listed]


def _loose(item: One, name: str) -> Entry:
    """A file given by itself: by its path, or below the folder that was picked for upload."""
    read = partial(read_bytes, item)
    if isinstance(item, (str, Path)):
        path = Path(os.path.abspath(item))
        return Entry(name, read, path.name, path.parent.as_posix(), path)
    picked = relative_name(name_of(item) or "").removesuffix(name).rstrip("/")
    return Entry(name, read, name, picked)


def _names(items: Sequence[One]) -> list[str]:
    """A name for each: paths relative to the folder they share, uploads by their name, '' for clutter."""
    paths = [os.path.abspath(item) for item in items if isinstance(item, (str, Path))]
    shared = os.path.commonpath([os.path.dirname(path) for path in paths]) if paths else ""
    return [
        Path(os.path.relpath(os.path.abspath(item), shared)).as_posix()
        if isinstance(item, (str, Path))
        else _upload_name(item)
        for item in items
    ]


def _upload_name(item: FileLike) -> str:
    """An upload of a directory names every file from the folder picked: that folder is the source, not a label."""
    name = (relative_name(name_of(item) or "") or "X-ray").split("/", 1)[-1]
    return "" if is_clutter(name) else name


def _list_directory(root: Path) -> list[Entry]:
    """Every file below `root`, by name; links out of it and special files have a problem."""
    root = root.resolve()
    entries: list[Entry] = []

    def add(path: Path, problem: str) -> None:
        name = path.relative_to(root).as_posix()
        if not is_clutter(name):
            entries.append(Entry(name, partial(read_bytes, path), name, root.as_posix(), path, problem))

    def add_closed(error: OSError) -> None:
        add(Path(error.filename or root), f"The folder cannot be opened ({error.strerror}).")

    for folder, folders, files in os.walk(root, onerror=add_closed):
        links = [name for name in folders if Path(folder, name).is_symlink()]
        folders[:] = [name for name in folders if not is_clutter(name) and name not in links]
        for path in (Path(folder, name) for name in (*links, *files)):
            add(path, _why_not_this_file(path, root))
        _check_count(len(entries), shown_name(root.name))
    return sorted(entries, key=lambda entry: entry.name)


def _why_not_this_file(path: Path, root: Path) -> str:
    """'' for an ordinary file or a link to one inside the same directory."""
    try:
        if path.is_file() and (not path.is_symlink() or path.resolve().is_relative_to(root)):
            return ""
    except OSError:
        pass
    return "Not an ordinary file, or a link that leads to a folder or out of this one; copy the file itself."


def _list_archive(file: One, name: str) -> list[Entry]:
    """The zip's files by name. A path stays open as long as an entry is kept. FileError if it is no zip."""
    archive = _open_archive(file, shown_name(name))
    infos = [info for info in archive.infolist() if info.filename[-1:] != "/" and not is_clutter(_slashed(info))]
    _check_count(len(infos), shown_name(name))
    if sum(info.file_size for info in infos) > MAX_TOTAL_BYTES:
        raise FileError(f"{shown_name(name)}: unpacks to more than {MAX_TOTAL_BYTES // 10**9} GB. Split it.")
    # Packing a folder `xrays` gives `xrays.zip` with everything in `xrays/`: that folder is the zip, not a label.
    stem = Path(name).stem
    entries: dict[str, Entry] = {}
    for inside, info in sorted(((_slashed(info), info) for info in infos), key=lambda pair: pair[0]):
        if inside in entries:
            raise FileError(f"{shown_name(name)}: holds {shown_name(inside)} twice. Pack the zip again.")
        path, read = inside.removeprefix(f"{stem}/"), partial(_read_member, archive, info)
        entries[inside] = Entry(path, read, path, stem, problem=_why_not_this_member(info))
    return list(entries.values())


def _open_archive(file: One, name: str) -> zipfile.ZipFile:
    """Open through a new handle where that is free (a path, bytes in memory); it closes with the archive."""
    own: io.BufferedIOBase | None = None
    try:
        if isinstance(file, (str, Path)):
            file = own = io.BufferedReader(io.FileIO(file))
        elif isinstance(file, io.BytesIO):
            file = own = io.BytesIO(file.getvalue())
        archive = open_zip(file, MAX_DIRECTORY_BYTES)
    except OSError as error:
        raise FileError(f"{name}: The file cannot be opened ({error.strerror}).") from error
    except FileError as error:
        if own is not None:
            own.close()
        raise FileError(f"{name}: {error}") from error.__cause__
    if own is not None:
        weakref.finalize(archive, own.close)
    return archive


def _slashed(info: zipfile.ZipInfo) -> str:
    return info.filename.replace("\\", "/").removeprefix("./")


def _why_not_this_member(info: zipfile.ZipInfo) -> str:
    name = _slashed(info)
    if name.startswith("/") or ".." in name.split("/") or name[1:2] == ":":
        return "Its path leads out of the zip."
    if stat.S_ISLNK(info.external_attr >> 16):
        return "A link, which is not followed; pack the file itself."
    if info.flag_bits & ENCRYPTED:
        return f"Locked with a password. {REPACK}"
    if info.compress_type not in READABLE:
        return f"Compressed in a rare way. {REPACK}"
    if info.file_size > MAX_BYTES:
        return TOO_MANY_BYTES
    if info.file_size > max(RATIO_MATTERS_FROM, MAX_RATIO * info.compress_size):
        return f"Unpacks to more than {MAX_RATIO} times its size, as no X-ray does."
    return ""


def _read_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, most: int) -> bytes:
    """At most what the table of contents announced, so a lie about the size ends in an error, not in memory."""
    try:
        with archive.open(info) as member:
            return member.read(most)
    except Exception as error:  # zipfile and zlib meet hostile bytes in many ways
        raise FileError("This part of the zip is damaged. Pack or copy it again.") from error
