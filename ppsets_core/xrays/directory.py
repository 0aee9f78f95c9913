"""A directory's files, in name order, links out of it not followed."""

import os
from functools import partial
from pathlib import Path

from ppsets_core.files import Refused
from ppsets_core.files.handles import read_bytes
from ppsets_core.files.names import is_clutter, shown_name
from ppsets_core.xrays.listing import Entry, Listing, check_count


def list_directory(root: Path) -> Listing:
    """Every ordinary file below `root`; links and special files are refused by name."""
    root = root.resolve()
    entries: list[Entry] = []
    refused: list[Refused] = []
    for folder, folders, files in os.walk(root, onerror=lambda error: refused.append(_closed(root, error))):
        names = sorted(folders)
        folders[:] = [name for name in names if not is_clutter(name) and not Path(folder, name).is_symlink()]
        paths = [Path(folder, name) for name in names if Path(folder, name).is_symlink()]
        paths += [Path(folder, name) for name in files]
        for path in paths:
            name = path.relative_to(root).as_posix()
            if is_clutter(name):
                continue
            if reason := _unfit(path, root):
                refused.append(Refused(name, reason))
            else:
                entries.append(Entry(name, partial(read_bytes, path), name, root.as_posix()))
        check_count(len(entries) + len(refused), shown_name(root.name))
    return Listing(tuple(sorted(entries, key=lambda entry: entry.name)), tuple(refused))


def _unfit(path: Path, root: Path) -> str:
    """Why a file is not to be read: '' for an ordinary file or a link to one inside the same directory."""
    try:
        if path.is_symlink() and not path.resolve(strict=True).is_relative_to(root):
            return "A link that leads out of the folder; copy the file itself."
        if path.is_dir():
            return "A link to a folder, which is not followed."
        return "" if path.is_file() else "Not an ordinary file."
    except (OSError, RuntimeError):
        return "A link that leads nowhere."


def _closed(root: Path, error: OSError) -> Refused:
    name = os.path.relpath(error.filename or root, root)
    return Refused(name, f"The folder cannot be opened ({error.strerror}).")
