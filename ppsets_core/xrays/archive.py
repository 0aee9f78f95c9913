"""A zip's files, read in place and within bounds: nothing is ever extracted to disk."""

import io
import stat
import weakref
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from ppsets_core.errors import FileError
from ppsets_core.files import Refused
from ppsets_core.files.handles import ENCRYPTED, READABLE, FileLike, open_zip
from ppsets_core.files.names import is_clutter, shown_name
from ppsets_core.xrays.limits import MAX_BYTES, MAX_FILES, TOO_MANY_BYTES
from ppsets_core.xrays.listing import Entry, Listing, check_count

MAX_DIRECTORY_BYTES = 256 * MAX_FILES
MAX_TOTAL_BYTES = 50_000_000_000
MAX_RATIO, RATIO_MATTERS_FROM = 200, 10_000_000
REPACK = "Pack the zip again with the ordinary 'deflate' method and without a password."


def list_archive(file: str | Path | FileLike, name: str) -> Listing:
    """The zip's files by name, sorted. A path stays open as long as an entry is kept. FileError if it is no zip."""
    archive = _open(file, shown_name(name))
    infos = [info for info in archive.infolist() if info.filename[-1:] != "/" and not is_clutter(_slashed(info))]
    check_count(len(infos), shown_name(name))
    if sum(info.file_size for info in infos) > MAX_TOTAL_BYTES:
        raise FileError(f"{shown_name(name)}: unpacks to more than {MAX_TOTAL_BYTES // 10**9} GB. Split it.")
    return _without_wrapper(_sorted_out(archive, infos), Path(name).stem)


def _open(file: str | Path | FileLike, name: str) -> zipfile.ZipFile:
    try:
        handle, close = _handle(file)
    except OSError as error:
        raise FileError(f"{name}: The file cannot be opened ({error.strerror}).") from error
    try:
        archive = open_zip(handle, MAX_DIRECTORY_BYTES)
    except FileError as error:
        close()
        raise FileError(f"{name}: {error}") from error.__cause__
    weakref.finalize(archive, close)
    return archive


def _handle(file: str | Path | FileLike) -> tuple[FileLike, Callable[[], None]]:
    """A handle of our own where that is free (a path, bytes in memory), else the caller's; and what closes our own."""
    if not isinstance(file, (str, Path, io.BytesIO)):
        return file, lambda: None
    own = _own_handle(file)
    return own, own.close


def _own_handle(file: str | Path | io.BytesIO) -> io.BufferedIOBase:
    if isinstance(file, io.BytesIO):
        return io.BytesIO(file.getvalue())
    return open(file, "rb")


def _sorted_out(archive: zipfile.ZipFile, infos: list[zipfile.ZipInfo]) -> Listing:
    entries: dict[str, Entry] = {}
    refused: list[Refused] = []
    for info in infos:
        name = _slashed(info)
        reason = _unfit(info) or ("The zip holds this name twice; the first is used." if name in entries else "")
        if reason:
            refused.append(Refused(name, reason))
        else:
            entries[name] = Entry(name, partial(_read_member, archive, info))
    return Listing(tuple(entries[name] for name in sorted(entries)), tuple(refused))


def _slashed(info: zipfile.ZipInfo) -> str:
    return info.filename.replace("\\", "/").removeprefix("./")


def _unfit(info: zipfile.ZipInfo) -> str:
    """Why a member is not to be read, or ''."""
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


def _without_wrapper(listing: Listing, stem: str) -> Listing:
    """Packing a folder `xrays` gives `xrays.zip` with everything in `xrays/`: that folder is the zip, not a label."""
    names = [entry.name.removeprefix(f"{stem}/") for entry in listing.entries]
    entries = (Entry(name, entry.read, name, stem) for name, entry in zip(names, listing.entries, strict=True))
    return Listing(tuple(entries), listing.refused)
