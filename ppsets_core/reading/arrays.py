"""NPY and NPZ, never unpickled, and never larger in memory than the file can hold."""

import io
import math
import zipfile

import numpy as np

from ppsets_core.errors import FileError
from ppsets_core.reading.columns import MAX_BYTES

MAX_UNPACKED = 4 * MAX_BYTES


def read_npy(data: bytes, source: str) -> np.ndarray:
    stream = io.BytesIO(data)
    try:
        version = np.lib.format.read_magic(stream)
        read_header = {(1, 0): np.lib.format.read_array_header_1_0}.get(version, np.lib.format.read_array_header_2_0)
        shape, _, dtype = read_header(stream)
    except (ValueError, EOFError, TypeError, SyntaxError, MemoryError, RecursionError):
        raise FileError(f"{source}: the array's header is damaged; save it again with numpy.save.") from None
    if dtype.hasobject:
        raise FileError(f"{source}: it holds pickled objects, which can run code; save plain numbers or text.")
    if dtype.names or math.prod(shape) * dtype.itemsize != len(data) - stream.tell():
        raise FileError(f"{source}: the array is cut short or of a structured type; save it again with numpy.save.")
    return np.load(io.BytesIO(data), allow_pickle=False)


def read_npz(data: bytes, source: str) -> dict[str, np.ndarray]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            if not members or not all(member.filename.endswith(".npy") for member in members):
                raise FileError(f"{source}: it is an archive but not NPZ; save a spreadsheet as CSV and try again.")
            if sum(member.file_size for member in members) > MAX_UNPACKED:
                raise FileError(f"{source}: it unpacks to over {MAX_UNPACKED // 1_000_000} MB; save fewer columns.")
            return {m.filename[: -len(".npy")]: read_npy(_unpack(archive, m, source), source) for m in members}
    except (zipfile.BadZipFile, EOFError, OSError, RuntimeError, NotImplementedError, ValueError) as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"{source}: the archive is damaged or encrypted; save it again with numpy.savez.") from None


def _unpack(archive: zipfile.ZipFile, member: zipfile.ZipInfo, source: str) -> bytes:
    with archive.open(member) as stream:
        data = stream.read(member.file_size + 1)
    if len(data) != member.file_size:
        raise FileError(f"{source}: the archive's sizes are wrong; save it again with numpy.savez.")
    return data
