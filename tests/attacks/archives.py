"""Zips that mean harm, as bytes."""

import io
import stat
import struct
import zipfile

LINK = (stat.S_IFLNK | 0o777) << 16
FLAGS = 8  # where a member's flags stand in its entry of the table of contents


def member(name: str, data: bytes = b"", **attributes) -> tuple[zipfile.ZipInfo, bytes]:
    info = zipfile.ZipInfo(name)
    info.compress_type = zipfile.ZIP_DEFLATED
    for key, value in attributes.items():
        setattr(info, key, value)
    return info, data


def archive(*members: tuple[zipfile.ZipInfo, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for info, data in members:
            file.writestr(info, data)
    return buffer.getvalue()


def patched(data: bytes, name: bytes, field: int, value: bytes) -> bytes:
    """A zip with bytes overwritten in its table of contents: a member's entry starts 46 bytes before its name."""
    start = data.rindex(name) - 46 + field
    return data[:start] + value + data[start + len(value) :]


def nested(picture: bytes, depth: int) -> bytes:
    """A zip in a zip in a zip, the innermost a bomb."""
    data = archive(member("bomb.png", picture + bytes(20_000_000)))
    for _ in range(depth):
        data = archive(member("inner.zip", data))
    return data


def crowd(entries: int) -> bytes:
    """A zip that lists so many files, all of them the same empty one."""
    local = struct.pack("<4s5H3I2H", b"PK\x03\x04", 20, 0, 0, 0, 33, 0, 0, 0, 5, 0) + b"a.png"
    entry = struct.pack("<4s6H3I5H2I", b"PK\x01\x02", 20, 20, 0, 0, 0, 33, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0)
    table = b"".join(entry + b"%05x.png" % number for number in range(entries))
    end = struct.pack("<4sQ2H2I4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, entries, entries, len(table), len(local))
    pointer = struct.pack("<4sIQI", b"PK\x06\x07", 0, len(local) + len(table), 1)
    return (
        local
        + table
        + end
        + pointer
        + struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, *[0xFFFF] * 2, *[0xFFFFFFFF] * 2, 0)
    )
