"""Bytes and names of whatever stands for a file: bytes, a path, an upload, a zip."""

import io
import os
import threading
import zipfile
from pathlib import Path
from typing import Any, Protocol, TypeGuard

from ppsets_core.errors import FileError

READABLE = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # the others can ask for gigabytes before giving a byte
ENCRYPTED = 0x1


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
        path = Path(file)
        if not path.is_file():
            raise FileError("Not a file but a folder or a device." if path.exists() else "There is no such file.")
        with path.open("rb") as handle:
            return handle.read(most)
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


class _Bounded:
    """A file whose first reads are bounded: zipfile reads the table of contents at whatever size it claims."""

    def __init__(self, file: FileLike, most: int):
        self.file = file
        self.most: int | None = most

    def read(self, size: int = -1) -> bytes:
        if self.most is not None and size > self.most:
            raise FileError("The zip's table of contents is too large. Split it.")
        return self.file.read(size)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)


def open_zip(file: FileLike, most: int) -> zipfile.ZipFile:
    """The zip, if its table of contents has at most so many bytes; FileError, without the file's name, if it is none.

    The archive keeps the file open as long as it is kept itself."""
    bounded = _Bounded(file, most)
    try:
        archive = zipfile.ZipFile(bounded)
    except FileError:
        raise
    except Exception as error:  # zipfile meets hostile bytes in many ways
        raise FileError("the zip is cut off or damaged. Pack or copy it again.") from error
    bounded.most = None
    return archive
