"""NPY and NPZ, never unpickled, and never larger in memory than the file can hold."""

import io
import math
import zipfile
from typing import Literal

import numpy as np

from ppsets_core.data.columns import MAX_COLUMNS, check_cells, check_names
from ppsets_core.errors import FileError
from ppsets_core.files.handles import READABLE, open_zip

MAX_UNPACKED = 250_000_000
MAX_DIRECTORY_BYTES = 256 * MAX_COLUMNS


def read_npy(data: bytes, source: str) -> np.ndarray:
    stream = io.BytesIO(data)
    try:
        version = np.lib.format.read_magic(stream)
        read_header = {(1, 0): np.lib.format.read_array_header_1_0}.get(version, np.lib.format.read_array_header_2_0)
        shape, fortran, dtype = read_header(stream)
    except Exception:  # the header is Python source, and numpy meets hostile source in many ways
        raise FileError(f"{source}: the array's header is damaged; save it again with numpy.save.") from None
    if dtype.hasobject:
        raise FileError(f"{source}: it holds pickled objects, which can run code; save plain numbers or text.")
    if not all(type(side) is int and side >= 0 for side in shape):
        raise FileError(f"{source}: the array's header is damaged; save it again with numpy.save.")
    if dtype.names or math.prod(shape) * dtype.itemsize != len(data) - stream.tell():
        raise FileError(f"{source}: the array is cut short or of a structured type; save it again with numpy.save.")
    check_cells(math.prod(max(1, side) for side in shape), source)  # entries of no bytes, or none a row, count as well
    try:
        order: Literal["F", "C"] = "F" if fortran else "C"
        return np.frombuffer(data, dtype, math.prod(shape), stream.tell()).reshape(shape, order=order)
    except Exception:
        raise FileError(f"{source}: the array is of a rare type; save plain numbers or text.") from None


def read_npz(data: bytes, source: str) -> dict[str, np.ndarray]:
    damaged = f"{source}: the archive is damaged or encrypted; save it again with numpy.savez."
    try:
        archive = open_zip(io.BytesIO(data), MAX_DIRECTORY_BYTES)
    except FileError:
        raise FileError(damaged) from None
    try:
        members = archive.infolist()
        _check_members(members, source)
        return {m.filename[: -len(".npy")]: read_npy(_unpack(archive, m, source), source) for m in members}
    except FileError:
        raise
    except Exception:  # zipfile and zlib meet hostile bytes in many ways
        raise FileError(damaged) from None


def _check_members(members: list[zipfile.ZipInfo], source: str) -> None:
    if not members or not all(member.filename.endswith(".npy") for member in members):
        raise FileError(f"{source}: it is an archive but not NPZ; save a spreadsheet as CSV and try again.")
    check_names([member.filename[: -len(".npy")] for member in members], source)
    if not all(member.compress_type in READABLE for member in members):
        raise FileError(f"{source}: it is compressed in a rare way; save it again with numpy.savez_compressed.")
    if sum(member.file_size for member in members) > MAX_UNPACKED:
        raise FileError(f"{source}: it unpacks to over {MAX_UNPACKED // 1_000_000} MB; save fewer columns.")


def _unpack(archive: zipfile.ZipFile, member: zipfile.ZipInfo, source: str) -> bytes:
    with archive.open(member) as stream:
        data = stream.read(member.file_size + 1)
    if len(data) != member.file_size:
        raise FileError(f"{source}: the archive's sizes are wrong; save it again with numpy.savez.")
    return data
