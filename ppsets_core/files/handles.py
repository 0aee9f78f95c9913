"""Bytes and names of whatever stands for a file: bytes, a path, an upload."""

import io
import os
import threading
from pathlib import Path
from typing import Protocol, TypeGuard

from ppsets_core.errors import FileError


class FileLike(Protocol):
    """An upload or an open binary file."""

    def read(self, size: int = -1, /) -> bytes: ...


class Rewindable(FileLike, Protocol):
    """One that can be read again from its start."""

    def seek(self, offset: int, /) -> int: ...


_one_reader = threading.Lock()


def name_of(file: object) -> str | None:
    """The file's own name; the folder stays only if the name is an upload's relative one."""
    name = file if isinstance(file, (str, Path)) else getattr(file, "name", None)
    if isinstance(name, Path) or (isinstance(name, str) and (name is file or os.path.isabs(name))):
        return Path(name).name
    return name if isinstance(name, str) else None


def read_bytes(file: bytes | str | Path | FileLike, most: int) -> bytes:
    """The first `most` bytes. An upload is read from its start, wherever it stood, and safely from several threads."""
    try:
        data = _read(file, most)
    except FileError:
        raise
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "it is closed, or its name is not valid"
        raise FileError(f"The file cannot be opened ({why}).") from error
    if not isinstance(data, bytes):
        raise FileError("The file was opened as text; open it in binary mode.")
    return data


def _read(file: bytes | str | Path | FileLike, most: int) -> bytes:
    if isinstance(file, (bytes, bytearray, memoryview)):
        return bytes(file[:most])
    if isinstance(file, (str, Path)):
        return _read_path(Path(file), most)
    if isinstance(file, io.BytesIO):
        return bytes(file.getbuffer()[:most])
    if not hasattr(file, "read"):
        raise FileError(f"A {type(file).__name__} is not a file. Give a path, an upload or an open file.")
    with _one_reader:
        if is_rewindable(file):
            file.seek(0)
        return file.read(most)


def is_rewindable(file: object) -> TypeGuard[Rewindable]:
    return getattr(file, "seekable", lambda: False)()


def _read_path(path: Path, most: int) -> bytes:
    if not path.is_file():
        raise FileError("Not a file but a folder or a device." if path.exists() else "There is no such file.")
    with path.open("rb") as handle:
        return handle.read(most)
