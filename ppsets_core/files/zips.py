"""Opening a zip whose table of contents may be a lie."""

import zipfile
from typing import Any

from ppsets_core.errors import FileError
from ppsets_core.files.handles import FileLike

READABLE = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # the others can ask for gigabytes before giving a byte
ENCRYPTED = 0x1


class _Bounded:
    """A file whose table of contents cannot be huge: zipfile reads it, at whatever size it claims, in one piece."""

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
